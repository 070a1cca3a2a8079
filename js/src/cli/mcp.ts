// `npx keepsake mcp`: a server of the Model Context Protocol, for assistants and editors.

import { existsSync } from "node:fs";
import { checkChoice, checkWhole } from "../checks.js";
import { KeepsakeError, messageOf } from "../errors.js";
import { COMMON, placeFor } from "../mcp/place.js";
import { missingFolder } from "../node/file-error.js";
import type { Policy } from "../scope/policy.js";
import { type Arguments, namespaceOf, type Option } from "./arguments.js";
import type { Command } from "./command.js";
import { keyOfFile } from "./key.js";
import { version } from "./version.js";

const PACKAGES = "@modelcontextprotocol/sdk zod";
const SECRETS = { mask: 1, refuse: 1, allow: 1 };

/** Whose a graph is. @internal */
export const PLACE: Record<string, Option> = {
  user: { type: "string", takes: "ID", says: "in the place of memory.scoped({ user: ID })" },
  app: { type: "string", takes: "ID", says: "in the place of memory.scoped({ global: ID })" },
  in: {
    type: "string",
    takes: "NAMESPACE",
    says: `below it: users/ada; without a place it is ${COMMON}`,
  },
};

/** @internal */
export const namespaceFor = (given: Arguments) =>
  placeFor({
    user: given.text("user"),
    app: given.text("app"),
    namespace: namespaceOf(given.text("in")),
  });

/** @internal */
export const mcp: Command = {
  words: ["FILE"],
  says: "serves it to programs that speak MCP, on stdin and stdout; FILE may be new",
  needs: `npm install ${PACKAGES}`,
  examples: ["mcp agent.db --user ada"],
  options: {
    ...PLACE,
    secrets: {
      type: "string",
      takes: "WHAT",
      says: "mask keys and tokens in what is stored (as usual), refuse or allow them",
    },
    "read-only": { type: "boolean", says: "offer no tool that writes, and refuse all writes" },
    "max-bytes": {
      type: "string",
      takes: "N",
      says: "refuse more bytes of items than these in its place",
    },
    "max-entries": {
      type: "string",
      takes: "N",
      says: "refuse more entities, relations and facts than these",
    },
  },
  async serve(path, given) {
    const place = namespaceFor(given);
    const policy = policyOf(given);
    const secrets = checkChoice(
      "--secrets",
      SECRETS,
      (given.text("secrets") ?? "mask") as keyof typeof SECRETS,
    );
    const { serve } = await server();
    if (policy.readOnly && !existsSync(path)) {
      const why = missingFolder(path) ?? `there is no file ${path}, and --read-only makes none`;
      throw new KeepsakeError("not_found", why);
    }
    const { SharedFile } = await import("../mcp/shared-file.js");
    const file = new SharedFile({ path, secrets, key: keyOfFile() }, { place, policy });
    await file.use((store) => store.search([], { limit: 1, refreshTtl: false }));
    process.stderr.write(`keepsake: serves ${path}, ${JSON.stringify(place)}\n`);
    await serve(file, version(), secrets, policy.readOnly === true);
  },
};

// Those of a scope, which the engine holds to.
function policyOf(given: Arguments): Policy {
  const most = (name: string) => {
    const count = given.number(name);
    return count === undefined ? undefined : checkWhole(`--${name}`, count, 0);
  };
  return {
    readOnly: given.flag("read-only"),
    maxBytes: most("max-bytes"),
    maxEntries: most("max-entries"),
  };
}

// The SDK is only needed here, and may not be there.
async function server() {
  try {
    return await import("../mcp/server.js");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw new KeepsakeError(
      "unsupported",
      `mcp needs two more packages: npm install ${PACKAGES} (${messageOf(cause)})`,
      { cause },
    );
  }
}
