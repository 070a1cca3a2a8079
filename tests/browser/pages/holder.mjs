// One tab holds databases open so that it owns them, for another that is a follower.

import { openMemory } from "keepsake";

const channel = () => new BroadcastChannel("holder");

/** Serves `ask` in every other tab. */
export function holdDatabases() {
  const held = new Map();
  const requests = channel();
  requests.onmessage = async ({ data: { id, action, name } }) => {
    if (action === undefined) return;
    if (action === "hold") held.set(name, await openMemory({ name }));
    else await held.get(name).close();
    requests.postMessage({ id });
  };
}

function ask(action, name) {
  const id = crypto.randomUUID();
  const requests = channel();
  return new Promise((resolve) => {
    requests.onmessage = ({ data }) => {
      if (data.id !== id) return;
      requests.close();
      resolve();
    };
    requests.postMessage({ id, action, name });
  });
}

let isFollower;

/** The database is open in the tab that holds, and this one follows it. */
export async function holdElsewhere(name) {
  await ask("hold", name);
  // Once is enough: whoever opened a database first owns it.
  isFollower ??= follows(name);
  if (!(await isFollower)) throw new Error(`${name} is not held elsewhere, in OPFS`);
}

async function follows(name) {
  const memory = await openMemory({ name });
  const { isOwner, persistence } = await memory.diagnose();
  await memory.close();
  return !isOwner && persistence === "opfs";
}

export const letGoElsewhere = (name) => ask("let go", name);
