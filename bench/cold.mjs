// How long the first question by words takes in what is new: a process that opens a file again, a
// page that was reloaded, an object that was evicted; beside FTS5 written by hand in the same run.
//
//   node bench/cold.mjs [--hosts=node,page,object,vectors] [--sizes=1000,10000,100000]
//        [--kinds=short,long,names,numbers,chinese] [--spaces=1,50,500]

import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openTab, startChromium } from "../tests/browser/support/chromium.mjs";
import { closeServers, serveFolder } from "../tests/browser/support/static-server.mjs";
import { bundleWorker } from "../tests/edge/support/bundle.mjs";
import { startWorkerd } from "../tests/edge/support/workerd.mjs";
import { buildPages, installPeers } from "./browser/driver.mjs";
import { inFolder, introduce, now, progress, table } from "./lib.mjs";
import { at, optionOf } from "./search-texts.mjs";

const PEERS = { "@sqlite.org/sqlite-wasm": "3.54.1-build1" };
const PROCESS = fileURLToPath(new URL("cold/process.mjs", import.meta.url));
const VECTORS = fileURLToPath(new URL("cold/vectors.mjs", import.meta.url));
const CANDIDATES = ["Keepsake", "FTS5 by hand"];
// Of an object and a page: as many as people have there.
const MOST = { node: 1_000_000, page: 50_000, object: 20_000 };
const listOf = (name, usual) => (optionOf(name) ?? usual).split(",");
const kinds = listOf("kinds", "short,long,names,numbers,chinese");
const ms = (number, digits = 1) => number.toFixed(digits);

/** Each set, by each candidate in turn. */
async function* sets(host, candidates = CANDIDATES) {
  for (const kind of kinds) {
    for (const size of listOf("sizes", "1000,10000,100000").map(Number)) {
      if (size > MOST[host]) continue;
      for (const spaces of listOf("spaces", "1,50,500").map(Number)) {
        for (const candidate of candidates) {
          // By hand there is one table, whatever its rows are called.
          if (candidate !== "Keepsake" && spaces > 1) continue;
          progress(`${host}: ${size} ${kind} texts in ${spaces} namespaces, ${candidate}`);
          yield { kind, size, spaces, candidate, what: [kind, size, spaces, candidate] };
        }
      }
    }
  }
  progress("");
}

const HOSTS = {
  async node() {
    const rows = [];
    for await (const { kind, size, spaces, candidate, what } of sets("node")) {
      await inFolder((folder) => {
        const run = (phase) => {
          const args = [phase, candidate, kind, size, spaces, join(folder, "cold.db")].map(String);
          return JSON.parse(
            execFileSync(process.execPath, [PROCESS, ...args], { encoding: "utf8" }),
          );
        };
        const made = run("make");
        const { open, first, later, afterPut, memory, bytes, textBytes } = run("ask");
        rows.push([
          ...what,
          ms(made.first[0], 0),
          ms(open[1]),
          `${ms(first[0])} / ${ms(first[1])}`,
          `${ms(later[0], 2)} / ${ms(later[1], 2)}`,
          ms(afterPut[0]),
          ms(memory / 2 ** 20, 0),
          ms(bytes / textBytes, 2),
        ]);
      });
    }
    introduce(
      "A file that is opened again, in Node",
      "Milliseconds. `analysis` is the first question of the process that wrote the file, CPU time. Then a new process: `open` on the clock, its first question as CPU time and on the clock, later ones as CPU time (median and 95 of 100), one after another text was put, MB that the first question takes, and bytes of the file for a byte of text.",
    );
    const header = ["", "texts", "namespaces", "", "analysis", "open", "first"];
    console.log(table([...header, "later", "after a put", "MB", "bytes"], rows));
  },

  async vectors() {
    const rows = [];
    for (const size of listOf("sizes", "1000,10000,100000").map(Number)) {
      await inFolder((folder) => {
        for (const candidate of ["Keepsake", "rows by hand"]) {
          progress(`vectors: ${size}, ${candidate}`);
          const path = join(folder, `${candidate}.db`);
          const run = (phase) =>
            JSON.parse(
              execFileSync(process.execPath, [VECTORS, phase, candidate, String(size), path], {
                encoding: "utf8",
              }),
            );
          run("make");
          const { first, second, later } = run("ask");
          const both = (times) => `${ms(times[0], 0)} / ${ms(times[1], 0)}`;
          rows.push([candidate, size, both(first), both(second), both(later)]);
        }
      });
    }
    progress("");
    introduce(
      "Vectors of a file that is opened again, in Node",
      "Vectors of 384 dimensions in 50 namespaces; the ten nearest to a new one, by cosine. Milliseconds of CPU and on the clock: the first question of a process, the second, and the median of later ones after a second without any.",
    );
    console.log(table(["", "vectors", "first", "second", "later"], rows));
  },

  async page() {
    installPeers(PEERS);
    const rows = [];
    await inFolder(async (folder) => {
      await buildPages(folder, ["search-fts5", "search"], PEERS);
      const { url } = await serveFolder(folder);
      for await (const { kind, size, spaces, candidate, what } of sets("page")) {
        const browser = await startChromium();
        try {
          const { page } = await openTab(browser, url);
          const args = [candidate, kind, size, spaces];
          const ready = () => page.waitForFunction(() => globalThis.measureCold);
          await ready();
          await page.evaluate((all) => globalThis.fill(...all), args);
          await page.reload();
          await ready();
          const { open, first, times } = await page.evaluate(
            (all) => globalThis.measureCold(...all),
            args,
          );
          rows.push([...what, ms(open, 0), ms(first, 0), ms(at(times, 0.5)), ms(at(times, 0.95))]);
        } finally {
          await browser.close();
        }
      }
    });
    closeServers();
    introduce(
      "A page that was reloaded, in Chromium",
      "Milliseconds that the page waits, the way to a worker and back included: until it is open, then for its first question, and for later ones.",
    );
    console.log(
      table(["", "texts", "namespaces", "", "open", "first", "median", "95 of 100"], rows),
    );
  },

  async object() {
    const bundle = await bundleWorker("bench/edge/search.mjs", { minify: true });
    const workerd = await startWorkerd("search", { classes: { CANDIDATE: "Candidate" }, bundle });
    const rows = [];
    for await (const { kind, size, spaces, candidate, what } of sets("object")) {
      const name = what.join(" ");
      const call = async (method, ...args) => {
        const began = now();
        const response = await workerd.miniflare.dispatchFetch("http://bench/", {
          method: "POST",
          body: JSON.stringify({ name, method, args }),
        });
        const text = await response.text();
        if (!response.ok) throw new Error(`${name} ${method}: ${text}`);
        return { ms: now() - began, answer: JSON.parse(text) };
      };
      const open = () => call("open", candidate, kind, size, spaces);
      await open();
      await call("fill");
      const analysis = await call("ask", 0);
      await call("evict");
      await open();
      const first = await call("rowsOfQuestion", 1);
      const later = [];
      for (let i = 2; i < 50; i++) later.push((await call("ask", i)).ms);
      rows.push([...what, ms(analysis.ms, 0), ms(first.ms, 0), first.answer, ms(at(later, 0.5))]);
    }
    await workerd.kill();
    introduce(
      "A Durable Object that was evicted, in workerd",
      "Milliseconds of a request. `analysis` is the very first question. Then the object is evicted: its next question, the rows that it reads, and later questions.",
    );
    console.log(
      table(["", "texts", "namespaces", "", "analysis", "first", "rows read", "median"], rows),
    );
  },
};

for (const host of listOf("hosts", "node,page,object,vectors")) await HOSTS[host]();
