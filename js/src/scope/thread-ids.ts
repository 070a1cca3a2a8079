// What people are shown of a thread's id. One of a scope begins with the place of that, whose labels
// are encoded as labels, and then as parts of an id: ada@x.org stands there as ada@x%252Eorg.

import { labelOfThread, threadPrefixOf } from "../wire/scope.js";
import { decodeLabel, encodeLabel } from "./labels.js";

/** The place as it was given: `user/ada@x.org/1`. An id that says it otherwise stays as it is. @internal */
export function shownThreadId(id: string): string {
  const parts = id.split("/");
  const own = parts.pop();
  const shown = [...parts.map((part) => decodeLabel(labelOfThread(part))), own].join("/");
  return storedThreadId(shown) === id ? shown : id;
}

/** The id that `shownThreadId()` shows so, if that has changed it. @internal */
export function storedThreadId(shown: string): string {
  const parts = shown.split("/");
  const own = parts.pop();
  return `${threadPrefixOf(parts.map(encodeLabel))}${own}`;
}
