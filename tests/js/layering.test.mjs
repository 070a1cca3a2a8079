// What the check of layers refuses, shown on trees that were made up.

import { complaintsOf } from "../layering.mjs";

const ALIASES = {
  "#host": { edge: "./js/src/edge/host.ts", default: { node: "./js/src/node/host.ts" } },
};

function complaints(files) {
  return [...complaintsOf(new Map(Object.entries(files)), ALIASES)];
}

test("imports that point down are fine, and so are those of entries among each other", () => {
  const tree = {
    "js/src/index.ts": 'export * from "./memory.js";',
    "js/src/slim.ts": 'export * from "./index.js";',
    "js/src/memory.ts": 'import { Connection } from "./connection.js";',
    "js/src/connection.ts": 'import { open } from "#host";\nimport "./errors.js";',
    "js/src/edge/host.ts": 'import type { Engine } from "../engine/engine.js";',
    "js/src/node/host.ts": 'import { lock } from "./lock.js";',
    "js/src/node/lock.ts": "",
    "js/src/engine/engine.ts": "",
    "js/src/errors.ts": "",
    "core/src/store/store.cc": '#include "store/store.h"\n#include "base/status.h"',
    "core/src/store/store.h": '#include "keepsake/store.h"',
    "core/src/base/status.h": "",
    "core/include/keepsake/store.h": "",
  };
  expect(complaints(tree)).toEqual([]);
});

test("an import that points up is refused", () => {
  const tree = {
    "js/src/wire/codec.ts": 'import type { Engine } from "../engine/engine.js";',
    "js/src/engine/engine.ts": "",
    "core/src/sql/database.h": '#include "store/store.h"',
    "core/src/store/store.h": "",
  };
  expect(complaints(tree)).toEqual([
    "js/src/wire/codec.ts imports upwards: js/src/engine/engine.ts",
    "core/src/sql/database.h imports upwards: core/src/store/store.h",
  ]);
});

test("an import of a folder beside its own is refused", () => {
  const tree = {
    "js/src/store/store.ts": 'const saver = await import("../checkpointer/saver.js");',
    "js/src/checkpointer/saver.ts": "",
  };
  expect(complaints(tree)).toEqual([
    "js/src/store/store.ts imports upwards: js/src/checkpointer/saver.ts",
  ]);
});

test("every condition of an alias is followed", () => {
  const tree = {
    "js/src/engine/engine.ts": 'import { open } from "#host";',
    "js/src/edge/host.ts": "",
    "js/src/node/host.ts": "",
  };
  expect(complaints(tree)).toEqual([
    "js/src/engine/engine.ts imports upwards: js/src/edge/host.ts",
    "js/src/engine/engine.ts imports upwards: js/src/node/host.ts",
  ]);
});

test("a circle is refused, also one of types, of a folder, of headers and of their sources", () => {
  const tree = {
    "js/src/browser/a.ts": 'import type { B } from "./b.js";',
    "js/src/browser/b.ts": 'import {\n  c,\n  d,\n} from "./c.js";',
    "js/src/browser/c.ts": 'export type A = import("./a.js").A;',
    "core/src/text/a.h": '#include "text/b.h"',
    "core/src/text/b.h": '#include "text/a.h"',
    "core/src/sql/a.h": "",
    "core/src/sql/a.cc": '#include "sql/a.h"\n#include "sql/b.h"',
    "core/src/sql/b.h": "",
    "core/src/sql/b.cc": '#include "sql/a.h"\n#include "sql/b.h"',
  };
  expect(complaints(tree)).toEqual([
    "a circle of imports: js/src/browser/a.ts -> js/src/browser/b.ts -> js/src/browser/c.ts -> js/src/browser/a.ts",
    "a circle of imports: core/src/text/a -> core/src/text/b -> core/src/text/a",
    "a circle of imports: core/src/sql/a -> core/src/sql/b -> core/src/sql/a",
  ]);
});

test("a folder that has no layer is refused", () => {
  expect(complaints({ "js/src/misc/x.ts": "" })).toEqual(["js/src/misc/x.ts is in no layer"]);
});
