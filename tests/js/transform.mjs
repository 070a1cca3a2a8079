// Lets tests use `await using`, which Node 20 can't parse.

import { transformSync } from "esbuild";

export default {
  process(source, path) {
    return transformSync(source, {
      sourcefile: path,
      sourcemap: "inline",
      target: "node20",
      format: path.endsWith(".cjs") ? "cjs" : "esm",
    });
  },
};
