// `npm run demo`. See options.mjs for what it takes, README.md for the file format.
import { ConversationError } from "./conversation.mjs";
import { ModelError } from "./model.mjs";
import { HELP, parseOptions, UsageError } from "./options.mjs";

process.exitCode = await main(process.argv.slice(2));

async function main(args) {
  try {
    const options = parseOptions(args);
    if (options.help) {
      process.stdout.write(HELP);
      return 0;
    }
    // Loaded late: help and wrong options need neither LangGraph nor a built package.
    const { runTerminalDemo } = await import("./terminal.mjs");
    return await runTerminalDemo(options);
  } catch (error) {
    process.stderr.write(`\n${explained(error)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
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
