// How long a page in Chromium waits for a question by words, beside FTS5 written by hand: the
// official SQLite build in a worker, in the same run. Both keep their files in OPFS.
//
//   node bench/browser-search.mjs [--sizes=1000,10000,100000] [--kinds=short,long,chinese]

import { closeServers, serveFolder } from "../tests/browser/support/static-server.mjs";
import { buildPages, inBrowser, installPeers } from "./browser/driver.mjs";
import { inFolder, introduce, progress, table } from "./lib.mjs";
import { at, optionOf, sizesAsked } from "./search-texts.mjs";

const PEERS = { "@sqlite.org/sqlite-wasm": "3.54.1-build1" };
const kinds = (optionOf("kinds") ?? "short,long,chinese").split(",");

introduce(
  "A question by words, in a browser",
  "Milliseconds that a page waits, the way to a worker and back included. `first` analyses all texts. `until found` is an item's share of 500 that are put and asked for.",
);
installPeers(PEERS);
const rows = [];
await inFolder(async (folder) => {
  await buildPages(folder, ["search-fts5", "search"], PEERS);
  const { url } = await serveFolder(folder);
  for (const kind of kinds) {
    for (const size of sizesAsked) {
      for (const candidate of ["Keepsake", "FTS5 by hand"]) {
        progress(`${size} ${kind} texts: ${candidate}`);
        await inBrowser(url, "measureSearch", async (page) => {
          const { put, found, first, times } = await page.evaluate(
            (all) => globalThis.measureSearch(...all),
            [candidate, kind, size],
          );
          const figures = [put.toFixed(3), found.toFixed(3), first.toFixed(0)];
          const latency = [0.5, 0.95].map((share) => at(times, share).toFixed(2));
          rows.push([kind, size, candidate, ...figures, ...latency]);
        });
      }
    }
  }
});
progress("");
const header = ["", "texts", "", "put", "until found", "first", "median", "95 of 100"];
console.log(table(header, rows));
closeServers();
