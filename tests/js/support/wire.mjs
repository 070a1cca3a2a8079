// The wire codec, and what else the package does not export: bundled from its source.

import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const { outputFiles } = await build({
  stdin: {
    contents: [
      "codec",
      "operations",
      "reader",
      "scope",
      "sent-request",
      "status",
      "layout",
      "writer",
    ]
      .map((name) => `export * from "./wire/${name}.ts";`)
      .concat('export * from "./store/texts.ts";')
      .join("\n"),
    resolveDir: fileURLToPath(new URL("../../../js/src", import.meta.url)),
  },
  bundle: true,
  format: "esm",
  target: "es2022",
  write: false,
});

export const wire = await import(
  `data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`
);

export const { textsToEmbed } = wire;

export const header = {
  clientId: 0x0001_0203_0405_0607,
  sequence: 0x0102_0304_0506,
  now: 1_700_000_000_123,
};

export const hex = (bytes) => Buffer.from(bytes).toString("hex");
