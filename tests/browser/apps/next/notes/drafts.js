"use client";

import { openMemory } from "keepsake";
import { useMemories } from "keepsake/react";
import { useEffect, useState } from "react";

export function Drafts() {
  const [memory, setMemory] = useState();
  useEffect(() => {
    openMemory({ name: "drafts" }).then(setMemory);
  }, []);
  const { data = [] } = useMemories(memory, ["drafts"]);
  const add = () => memory.store.put(["drafts"], crypto.randomUUID(), { text: "a draft" });
  return (
    <section>
      <button type="button" id="add" onClick={add} disabled={memory === undefined}>
        Draft
      </button>
      <ul id="drafts">
        {data.map(({ key, value }) => (
          <li key={key}>{value.text}</li>
        ))}
      </ul>
    </section>
  );
}
