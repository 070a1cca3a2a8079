// `npm run demo`. See options.mjs for what it takes, README.md for what it shows.
import { ModelError } from "./chat-completions.mjs";
import { ConversationError } from "./conversation.mjs";
import { HELP, parseOptions, UsageError } from "./options.mjs";

process.exitCode = await main(process.argv.slice(2));

async function main(args) {
  try {
    const options = parseOptions(args);
    if (options.help) process.stdout.write(HELP);
    else return await run(options);
    return 0;
  } catch (error) {
    process.stderr.write(`\n${explained(error)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

// Loaded late: help and wrong options need neither LangGraph nor a built package.
async function run(options) {
  if (options.terminal) {
    const { runTerminalDemo } = await import("./terminal/terminal.mjs");
    return runTerminalDemo(options);
  }
  if (options.worker) {
    const { runWorkerDemo } = await import("./worker/serve.mjs");
    return runWorkerDemo(options);
  }
  const { runPageDemo } = await import("./serve/serve.mjs");
  return runPageDemo(options);
}

function explained(error) {
  if (error instanceof UsageError) return `${error.message}\nTry: npm run demo -- --help`;
  const isExpected = error instanceof ConversationError || error.name === "KeepsakeError";
  if (isExpected) return error.message;
  if (error instanceof ModelError) {
    return `${error.message}\nWithout OPENAI_API_KEY the demo answers with quotes.`;
  }
  if (error.code === "ERR_MODULE_NOT_FOUND") return `${error.message}\nTry: npm run build`;
  return error.stack;
}
