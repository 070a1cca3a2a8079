// The examples of functions and a laptop over one memory run as they stand, over a store that speaks
// S3's protocol.

import { execFile } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { fakeS3 } from "./support/fake-s3.mjs";
import { projectRoot } from "./support/installed-package.mjs";
import { closeServers } from "./support/local-server.mjs";
import { removeTemporaryFolders, temporaryFolder } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);
afterAll(closeServers);

const CALL = `import { handler } from "./lambda.mjs";
console.log(JSON.stringify(await handler(JSON.parse(process.argv[1]))));
process.exit();`;

/** The examples as JavaScript, in a folder that has the packages. */
async function project() {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(projectRoot, join(folder, "node_modules/keepsake"));
  for (const peer of ["@langchain", "langchain"]) {
    symlinkSync(join(projectRoot, "node_modules", peer), join(folder, "node_modules", peer));
  }
  await build({
    entryPoints: ["lambda", "laptop"].map((name) => `examples/everywhere/${name}.ts`),
    absWorkingDir: projectRoot,
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
  });
  return folder;
}

test("what a function was told, the laptop knows, and the other way round", async () => {
  const folder = await project();
  const { options, credentials } = await fakeS3();
  const env = {
    ...process.env,
    NODE_OPTIONS: "",
    MEMORIES: options.bucket,
    AWS_REGION: options.region,
    AWS_ENDPOINT_URL: options.endpoint,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  };
  const node = async (...words) => {
    const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: folder, env });
    return stdout;
  };
  const laptop = (text) => node("laptop.mjs", "ada", text);
  // Each is a new copy of the function.
  const tell = async (rawPath, body) => {
    const event = JSON.stringify({ rawPath, body });
    return JSON.parse(await node("--input-type=module", "-e", CALL, event));
  };

  expect(await tell("/users/ada/threads/1", "Ada likes oolong tea.")).toEqual({
    statusCode: 200,
    body: "I know nothing of that.",
  });
  expect(await laptop("Which tea does Ada like?")).toMatch(
    /- Ada likes oolong tea\. \[from model\]\n<\/memory>\n0 calls wait, in step at 20/,
  );
  await laptop("Ada plays the cello.");
  const { body } = await tell("/users/ada/threads/2", "What does Ada play?");
  expect(body).toMatch(/- Ada plays the cello\. \[from model\]/);
  expect((await tell("/nobody")).statusCode).toBe(404);
});
