import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

export class UsageError extends Error {
  name = "UsageError";
}

export const HELP = `Keepsake's demo: an agent that remembers, in a page of your browser or in the
terminal.

Usage: npm run demo -- [--port N]
       npm run demo -- --terminal [options] [conversation.json]
       npm run demo -- --worker [--port N]

The page runs in the browser alone: the server hands out its files, and has a
bucket by which two devices meet. Ctrl-C ends the server.

With --worker the same agent runs in workerd, Cloudflare's runtime, on this
machine: an object for each user, reached by HTTP (demo/README.md), kept in the
folder --db.

  --port N          where to serve the page (4173, or a free one if it is taken)
                    or the Worker (8787)
  --help            this text

With --terminal an agent listens to a conversation, answers questions from memory,
and finds everything again after a restart. The file is in the demo's own format
(demo/README.md) or LoCoMo's; without one the demo brings its own conversation.
No API key is needed: answers are quotes, unless OPENAI_API_KEY (and
OPENAI_BASE_URL, OPENAI_MODEL) name a model.

  --conversation N  which conversation of a file that holds several (1)
  --questions N     how many questions to show with the turns found (5);
                    recall is measured over all
  --db PATH         the database file; an existing one is gone on with
  --keep            keep the database that the demo made in a temporary folder
`;

const DEFAULTS = { conversation: "1", questions: "5" };
const HIGHEST_PORT = 65_535;

// → {help} | {terminal: false, worker, port?} | {terminal: true, file, conversation, questions, db?, keep, afterRestart}
export function parseOptions(args) {
  const { values, positionals } = parsed(args);
  if (values.help) return { help: true };
  return values.terminal ? terminalOptions(values, positionals) : pageOptions(values, positionals);
}

function pageOptions({ terminal, worker, port, ...values }, positionals) {
  const { db, ...withTerminal } = values;
  const others = worker ? withTerminal : values;
  const [other] = Object.keys(others).map((name) => `--${name}`);
  const foreign = other ?? positionals[0];
  if (foreign !== undefined) throw new UsageError(`${foreign} needs --terminal`);
  return { terminal, worker, port: port === undefined ? undefined : portNumber(port), db };
}

function terminalOptions(values, positionals) {
  if (values.worker) throw new UsageError("--worker and --terminal exclude each other");
  if (values.port !== undefined) throw new UsageError("--port is for the page, not the terminal");
  if (positionals.length > 1) throw new UsageError(`one file at most: ${positionals.join(" ")}`);
  return {
    terminal: true,
    file: positionals[0] ?? fileURLToPath(new URL("conversation.json", import.meta.url)),
    conversation: count("conversation", values, 1),
    questions: count("questions", values, 0),
    db: values.db,
    keep: values.keep ?? false,
    afterRestart: values["after-restart"] ?? false,
  };
}

function parsed(args) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        terminal: { type: "boolean", default: false },
        worker: { type: "boolean", default: false },
        port: { type: "string" },
        help: { type: "boolean" },
        conversation: { type: "string" },
        questions: { type: "string" },
        db: { type: "string" },
        keep: { type: "boolean" },
        // How the terminal program starts itself for its second half; not for people.
        "after-restart": { type: "boolean" },
      },
    });
  } catch (cause) {
    throw new UsageError(cause.message, { cause });
  }
}

function portNumber(text) {
  const port = wholeNumber("port", text, 0);
  if (port <= HIGHEST_PORT) return port;
  throw new UsageError(`--port must be at most ${HIGHEST_PORT}: ${text}`);
}

function count(name, values, least) {
  return wholeNumber(name, values[name] ?? DEFAULTS[name], least);
}

function wholeNumber(name, text, least) {
  const number = Number(text);
  if (text.trim() !== "" && Number.isSafeInteger(number) && number >= least) return number;
  throw new UsageError(`--${name} must be a whole number of at least ${least}: ${text}`);
}
