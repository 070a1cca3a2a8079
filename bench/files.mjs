// Files in a store beside deepagents' own StoreBackend, which reads every item for each call.
// 10,000 files in 100 directories; each call in turns, the median of both on the clock.
//
//   node --expose-gc bench/files.mjs [files]

import { InMemoryStore as OfficialStore } from "@langchain/langgraph-checkpoint";
import { StoreBackend } from "deepagents";
import { InMemoryStore } from "keepsake";
import { filesBackend } from "keepsake/files";
import { introduce, progress, quick, table } from "./lib.mjs";

const FILES = quick ? 1_000 : 10_000;
const DIRECTORIES = 100;
const ROUNDS = 7;
const WORDS = "tea rain harbour ladder window bridge lamp cake boat coal milk garden".split(" ");

const pathOf = (i) => `/notes/${i % DIRECTORIES}/${i}.md`;
const textOf = (i) =>
  Array.from({ length: 40 }, (_, j) => `${WORDS[(i * 7 + j * 5) % WORDS.length]} ${i}-${j}`).join(
    "\n",
  );
const last = FILES - 1;

const CALLS = {
  "ls of a directory with 100 files": (backend) => backend.ls("/notes/7"),
  "ls of the root": (backend) => backend.ls("/"),
  "grep of a word in one file": (backend) => backend.grep(` ${last}-39`),
  "grep of a common word, 100 matches": (backend) => backend.grep("tea", "/", null, 100),
  "grep in a directory": (backend) => backend.grep("tea", "/notes/7"),
  "glob of one name": (backend) => backend.glob(`**/${last}.md`, "/"),
  "glob in a directory": (backend) => backend.glob("*.md", "/notes/7"),
  "read a file": (backend) => backend.read(pathOf(last)),
  "edit a file": async (backend) => {
    await backend.edit(pathOf(last), `${last}-0`, "changed");
    return backend.edit(pathOf(last), "changed", `${last}-0`);
  },
};

const official = new StoreBackend({ store: new OfficialStore(), namespace: () => ["filesystem"] });
const store = new InMemoryStore();
const backends = [official, filesBackend(store)];
for (let i = 0; i < FILES; i++) {
  if (i % 1000 === 0) progress(`writing ${i} of ${FILES}`);
  for (const backend of backends) await backend.write(pathOf(i), textOf(i));
}
progress("");

const median = (all) => all.sort((a, b) => a - b)[all.length >> 1];
async function msOf(call, backend) {
  const begin = performance.now();
  const { error } = await call(backend);
  if (error !== undefined) throw new Error(error);
  return performance.now() - begin;
}

introduce("Files in a store", `${FILES} files in ${DIRECTORIES} directories, in memory.`);
const rows = [];
for (const [name, call] of Object.entries(CALLS)) {
  const times = backends.map(() => []);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [i, backend] of backends.entries()) times[i].push(await msOf(call, backend));
  }
  const [theirs, ours] = times.map(median);
  rows.push([name, theirs.toFixed(2), ours.toFixed(2), `×${(theirs / ours).toFixed(1)}`]);
}
console.log(table(["ms", "deepagents StoreBackend", "Keepsake", ""], rows));
await store.close();
