// One after another: what reads a file and writes it again.

const QUEUES = new WeakMap<object, Map<string, Promise<unknown>>>();

/** Runs `body` when all that was given before for this place of `owner` has ended. */
export async function oneByOne<T>(
  owner: object,
  place: readonly string[],
  body: () => Promise<T>,
): Promise<T> {
  const name = JSON.stringify(place);
  const queue = QUEUES.get(owner) ?? new Map<string, Promise<unknown>>();
  QUEUES.set(owner, queue);
  const turn = (queue.get(name) ?? Promise.resolve()).then(body);
  const settled = turn.catch(() => {});
  queue.set(name, settled);
  try {
    return await turn;
  } finally {
    if (queue.get(name) === settled) queue.delete(name);
  }
}
