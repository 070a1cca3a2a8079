import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

export class UsageError extends Error {
  name = "UsageError";
}

export const HELP = `Keepsake's terminal demo: an agent listens to a conversation, answers questions
from memory, and finds everything again after a restart.

Usage: npm run demo -- [options] [conversation.json]

The file is in the demo's own format (demo/README.md) or LoCoMo's; without one
the demo brings its own conversation. No API key is needed: answers are quotes,
unless OPENAI_API_KEY (and OPENAI_BASE_URL, OPENAI_MODEL) name a model.

  --conversation N  which conversation of a file that holds several (1)
  --questions N     how many questions to show with the turns found (5);
                    recall is measured over all
  --db PATH         the database file; an existing one is gone on with
  --keep            keep the database that the demo made in a temporary folder
  --help            this text
`;

// → {file, conversation, questions, db?, keep, help, afterRestart}
export function parseOptions(args) {
  const { values, positionals } = parsed(args);
  if (positionals.length > 1) throw new UsageError(`one file at most: ${positionals.join(" ")}`);
  return {
    file: positionals[0] ?? fileURLToPath(new URL("conversation.json", import.meta.url)),
    conversation: count("conversation", values.conversation, 1),
    questions: count("questions", values.questions, 0),
    db: values.db,
    keep: values.keep,
    help: values.help,
    afterRestart: values["after-restart"],
  };
}

function parsed(args) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        conversation: { type: "string", default: "1" },
        questions: { type: "string", default: "5" },
        db: { type: "string" },
        keep: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
        // How the demo starts itself for its second half; not for people.
        "after-restart": { type: "boolean", default: false },
      },
    });
  } catch (cause) {
    throw new UsageError(cause.message, { cause });
  }
}

function count(name, text, least) {
  const number = Number(text);
  if (text.trim() !== "" && Number.isSafeInteger(number) && number >= least) return number;
  throw new UsageError(`--${name} must be a whole number of at least ${least}: ${text}`);
}
