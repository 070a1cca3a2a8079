// An engine makes an index over texts in portions: a search that needs more than one of them is
// asked again, and everybody else is served in between.

import { KeepsakeError } from "../errors.js";
import type { MaybePromise } from "./answers.js";

/** What `ask` answers when the index is made. @internal */
export function whenIndexed<T>(ask: () => MaybePromise<T>): MaybePromise<T> {
  try {
    const answer = ask();
    return answer instanceof Promise ? answer.catch((error) => afterPortion(error, ask)) : answer;
  } catch (error) {
    return afterPortion(error, ask);
  }
}

async function afterPortion<T>(first: unknown, ask: () => MaybePromise<T>): Promise<T> {
  for (let error = first; ; ) {
    if (!(error instanceof KeepsakeError) || error.code !== "indexing") throw error;
    await new Promise((resolve) => setTimeout(resolve));
    try {
      return await ask();
    } catch (next) {
      error = next;
    }
  }
}
