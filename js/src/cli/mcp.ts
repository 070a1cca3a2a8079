// `npx keepsake mcp`: a server of the Model Context Protocol, for assistants and editors.

import { checkChoice } from "../checks.js";
import { KeepsakeError, messageOf } from "../errors.js";
import { COMMON, placeFor } from "../mcp/place.js";
import { SharedFile } from "../mcp/shared-file.js";
import { type Arguments, namespaceOf, type Option } from "./arguments.js";
import type { Command } from "./command.js";
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
  },
  async serve(path, given) {
    const namespace = namespaceFor(given);
    const secrets = checkChoice(
      "--secrets",
      SECRETS,
      (given.text("secrets") ?? "mask") as keyof typeof SECRETS,
    );
    const { serve } = await server();
    const file = new SharedFile({ path, secrets });
    await file.use(({ store }) => store.stats());
    process.stderr.write(`keepsake: serves ${path}, ${JSON.stringify(namespace)}\n`);
    await serve(file, namespace, version(), secrets);
  },
};

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
