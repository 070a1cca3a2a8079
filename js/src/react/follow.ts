// An answer of a memory that is asked for again whenever something of it changes.

import { useEffect, useState } from "react";
import type { KeepsakeSaver } from "../checkpointer/checkpointer.js";
import { show } from "../checks.js";
import type { ChangeListener } from "../engine/changes.js";
import { invalid } from "../errors.js";
import type { KeepsakeStore } from "../store/store.js";
import type { Changes } from "../wire/changes.js";

/** A `Memory` of `openMemory()`, or a part of one, of `memory.scoped()`. */
export interface FollowedMemory {
  readonly store: KeepsakeStore;
  readonly checkpointer: KeepsakeSaver;
  onChange(listener: ChangeListener): () => void;
}

/** What a hook knows at the moment. */
export interface Answer<Data> {
  /** The newest answer to what is asked now; undefined before the first one. */
  data: Data | undefined;
  /** Why the last try failed: a KeepsakeError with a `code`. The `data` before it stays. */
  error: Error | undefined;
  /** There is neither an answer nor an error yet. False while a known answer is renewed. */
  loading: boolean;
}

/** What is asked of a memory, by what it depends on. @internal */
export interface Question<Data> {
  /** The same text is the same question. */
  key: string;
  ask(memory: FollowedMemory): Promise<Data>;
  /** Whether a change may change the answer. */
  concerns(changes: Changes): boolean;
}

interface Known<Data> extends Answer<Data> {
  memory: FollowedMemory | undefined;
  key: string;
}

/** Nothing is known while `memory` is undefined: it may still be opened. @internal */
export function useAnswer<Data>(
  hook: string,
  memory: FollowedMemory | undefined,
  question: Question<Data>,
): Answer<Data> {
  checkMemory(hook, memory);
  const { key } = question;
  const [known, setKnown] = useState<Known<Data>>({ memory, key, ...nothing });
  // Its key stands for the question.
  useEffect(() => {
    if (memory === undefined) return undefined;
    return follow(memory, question, (answer) => setKnown({ memory, key, ...answer }));
  }, [memory, key]);
  // An answer to what was asked before is none.
  if (known.memory !== memory || known.key !== key) return nothing;
  const { data, error, loading } = known;
  return { data, error, loading };
}

const nothing = { data: undefined, error: undefined, loading: true };

// Asks now and after each change, one question at a time. Answers how to stop.
function follow<Data>(
  memory: FollowedMemory,
  { ask, concerns }: Question<Data>,
  tell: (answer: Answer<Data>) => void,
): () => void {
  let data: Data | undefined;
  let isOver = false;
  let isAsking = false;
  let isOld = true;
  const run = async () => {
    if (isAsking) return;
    isAsking = true;
    while (isOld && !isOver) {
      isOld = false;
      let error: Error | undefined;
      try {
        data = await ask(memory);
      } catch (caught) {
        error = caught as Error;
      }
      if (!isOver) tell({ data, error, loading: false });
    }
    isAsking = false;
  };
  const stop = memory.onChange((changes) => {
    if (!concerns(changes)) return;
    isOld = true;
    void run();
  });
  void run();
  return () => {
    isOver = true;
    stop();
  };
}

/** @internal */
export function checkMemory(hook: string, memory: unknown): void {
  if (memory === undefined) return;
  const { store, onChange } = (memory ?? {}) as Partial<FollowedMemory>;
  if (typeof store === "object" && typeof onChange === "function") return;
  throw invalid(
    `${hook}: it takes a memory, which openMemory() resolves to, or undefined until there is one: ${show(memory)}`,
  );
}
