// Where a thread parted: the checkpoints of each branch, drawn as `git log --graph` draws commits.

/** A checkpoint, as its thread names it. */
interface Listed {
  id: string;
  namespace: string;
  parent: string | undefined;
}

type Key = string | undefined;

/** The same with what shows branches: a tip is what no other one goes on from. @internal */
export function withTips<T extends Listed>(checkpoints: T[]): (T & { isTip: boolean })[] {
  const parents = new Set(checkpoints.map(parentOf));
  return checkpoints.map((one) => ({ ...one, isTip: !parents.has(keyOf(one)) }));
}

/**
 * The tips of all branches, and a cell of the graph for each checkpoint, the newest first. Undefined
 * if no branches are among them: where a namespace has several tips. One that stands alone, as what
 * was imported without its history, is no branch. @internal
 */
export function branchesOf(
  checkpoints: (Listed & { isTip: boolean })[],
): { tips: string[]; graph: string[] } | undefined {
  const ends = checkpoints.filter(({ isTip, parent }) => isTip && parent !== undefined);
  const parted = new Set<string>();
  const seen = new Set<string>();
  for (const { namespace } of ends) {
    if (seen.has(namespace)) parted.add(namespace);
    seen.add(namespace);
  }
  if (parted.size === 0) return undefined;
  const lanes: Key[] = [];
  const graph = checkpoints.map((one) =>
    parted.has(one.namespace) ? drawn(lanes, one) : lanes.map((key) => (key ? "|" : " ")).join(" "),
  );
  return { tips: ends.filter((one) => parted.has(one.namespace)).map(({ id }) => id), graph };
}

// Each lane waits for the checkpoint that its last one goes on from. Where several wait for the
// same, they meet.
function drawn(lanes: Key[], checkpoint: Listed): string {
  const key = keyOf(checkpoint);
  if (!lanes.includes(key)) lanes[firstFree(lanes)] = key;
  const own = lanes.indexOf(key);
  const last = lanes.lastIndexOf(key);
  const cells = lanes.map((waits, i) => {
    const sign = i === own ? "*" : waits === key ? "'" : waits === undefined ? " " : "|";
    const gap = i >= own && i < last ? "-" : " ";
    return (sign === " " && i > own && i < last ? "-" : sign) + gap;
  });
  for (let i = 0; i < lanes.length; i++) if (lanes[i] === key) lanes[i] = undefined;
  lanes[own] = parentOf(checkpoint);
  return cells.join("").trimEnd();
}

function firstFree(lanes: readonly Key[]): number {
  const free = lanes.indexOf(undefined);
  return free < 0 ? lanes.length : free;
}

function keyOf({ namespace, id }: Listed): string {
  return JSON.stringify([namespace, id]);
}

function parentOf({ namespace, parent }: Listed): Key {
  return parent === undefined ? undefined : JSON.stringify([namespace, parent]);
}
