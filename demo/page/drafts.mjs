// What was written and not sent, a text for each thread. Kept for this tab, over reloads.

const nameOf = (threadId) => `keepsake-demo:draft:${threadId}`;

export const draftOf = (threadId) => sessionStorage.getItem(nameOf(threadId)) ?? "";

export function keepDraft(threadId, text) {
  if (text === "") sessionStorage.removeItem(nameOf(threadId));
  else sessionStorage.setItem(nameOf(threadId), text);
}
