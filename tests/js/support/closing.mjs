// What a test opened is closed after it: `await using`, for the Node versions without it.

const opened = new Set();

/** Closes `closable` when the test is over, unless the test does. */
export function closing(closable) {
  opened.add(closable);
  return closable;
}

export async function closeOpened() {
  for (const closable of opened) await closable.close();
  opened.clear();
}
