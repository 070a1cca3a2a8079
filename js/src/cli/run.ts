// Runs a command line: finds the command, prints what it answers, and says how it ended.

import { detailOf, invalid, KeepsakeError, messageOf } from "../errors.js";
import { type Option, parse, remedyFor } from "./arguments.js";
import type { Command } from "./command.js";
import { COMMANDS, execute } from "./commands.js";
import { KEY_HELP } from "./key.js";
import { safe } from "./output.js";
import { REMEDIES } from "./remedies.js";
import { version } from "./version.js";

/** Where it prints. @internal */
export interface Streams {
  out(text: string): void;
  error(text: string): void;
}

const OPTIONS: Record<string, Option> = {
  json: { type: "boolean", says: "print JSON, for programs" },
  help: { type: "boolean", says: "say what it does" },
};

const NAMESPACES =
  "A NAMESPACE is users/ada, or '[\"a/b\"]' where a label has a slash; / is everything.";

const DONE = 0;
const FAILED = 1;
const MISUSED = 2;

// These say what was wrong with the words of the call.
const OF_WORDS = ["invalid_argument", "invalid_filter", "invalid_namespace", "invalid_key"];

/** Answers the exit code: 0 done, 1 failed, 2 called wrongly. @internal */
export async function run(words: string[], streams: Streams): Promise<number> {
  const [name, ...rest] = words;
  if (name === "--version" || name === "-v" || name === "version") {
    streams.out(`${version()}\n`);
    return DONE;
  }
  const isHelp = name === "help" || name === "--help" || name === "-h";
  if (isHelp && rest[0] !== undefined) return run([rest[0], "--help"], streams);
  if (isHelp || name === undefined || name.startsWith("-")) {
    (isHelp ? streams.out : streams.error)(helpOfAll());
    return isHelp ? DONE : MISUSED;
  }
  const has = (option: string) => optionsIn(rest).includes(option);
  const isJson = has("--json");
  try {
    const command = commandOf(name);
    if (has("--help") || has("-h")) {
      streams.out(helpOf(name, command));
      return DONE;
    }
    const given = parse(rest, { ...command, options: { ...command.options, ...OPTIONS } });
    const printed = await execute(command, given);
    if (printed === undefined) return DONE;
    streams.out(isJson ? `${JSON.stringify(printed.data, readable)}\n` : safe(printed.text));
    if (printed.failure === undefined) return DONE;
    streams.error(`keepsake: ${safe(printed.failure)}\n`);
    return FAILED;
  } catch (error) {
    const isMisused = error instanceof KeepsakeError && OF_WORDS.includes(error.code);
    streams.error(isJson ? jsonOf(error) : safe(errorText(error, name, isMisused)));
    return isMisused ? MISUSED : FAILED;
  }
}

// What stands after `--` is a word, whatever it looks like.
function optionsIn(words: string[]): string[] {
  const end = words.indexOf("--");
  return end < 0 ? words : words.slice(0, end);
}

function commandOf(name: string): Command {
  if (Object.hasOwn(COMMANDS, name)) return COMMANDS[name] as Command;
  const remedy = remedyFor(name, Object.keys(COMMANDS));
  throw invalid(`unknown command ${JSON.stringify(name)}: ${remedy}`);
}

// Bytes as text: JSON itself would write a member for each.
function readable(_name: string, value: unknown): unknown {
  if (!(value instanceof Uint8Array)) return value;
  return { base64: Buffer.from(value).toString("base64") };
}

function jsonOf(error: unknown): string {
  const code = error instanceof KeepsakeError ? error.code : "internal";
  return `${JSON.stringify({ error: { code, message: messageOf(error) } })}\n`;
}

function errorText(error: unknown, name: string, isMisused: boolean): string {
  const remedy = error instanceof KeepsakeError ? REMEDIES[error.code] : undefined;
  const hint = isMisused ? usageOf(name) : remedy === undefined ? "" : `${remedy}\n`;
  const label = error instanceof KeepsakeError ? `${error.code}: ` : "";
  return `keepsake: ${label}${detailOf(error)}\n${hint}`;
}

function usageOf(name: string): string {
  if (!Object.hasOwn(COMMANDS, name)) return "`keepsake --help` says how.\n";
  const words = [name, ...(COMMANDS[name] as Command).words].join(" ");
  return `Usage: keepsake ${words}\n\`keepsake ${name} --help\` says more.\n`;
}

function helpOfAll(): string {
  const rows = Object.entries(COMMANDS).map(([name, { words, says }]) => [
    `${name} ${words.join(" ")}`,
    says,
  ]);
  return [
    "Looks into a memory of keepsake, and looks after it.",
    "",
    "  npx keepsake COMMAND FILE [OPTIONS]",
    "",
    columns(rows),
    "",
    "`--json` prints JSON. `keepsake COMMAND --help` says more. `--version` says which keepsake it is.",
    "The exit code is 0 when it was done, 1 when it failed, and 2 when it was called wrongly.",
    "A file that a running program has open is busy: close that program first.",
    KEY_HELP,
    "",
  ].join("\n");
}

function helpOf(name: string, { words, says, needs, notes, options, examples }: Command): string {
  const rows = Object.entries({ ...options, ...OPTIONS }).map(([option, { takes, says: what }]) => [
    takes === undefined ? `--${option}` : `--${option} ${takes}`,
    what,
  ]);
  const takesNamespace = /NAMESPACE/.test(
    `${words} ${Object.values(options).map((each) => each.takes)}`,
  );
  return [
    `  npx keepsake ${name} ${words.join(" ")}`,
    "",
    `${capital(says)}.`,
    ...(needs === undefined ? [] : [`It needs more packages: ${needs}`]),
    "",
    columns(rows),
    "",
    ...(takesNamespace ? [NAMESPACES, ""] : []),
    ...(notes === undefined ? [] : [notes, ""]),
    ...examples.map((example) => `  npx keepsake ${example}`),
    "",
  ].join("\n");
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

function columns(rows: string[][]): string {
  const width = Math.max(...rows.map(([first = ""]) => first.length));
  return rows.map(([first = "", second]) => `  ${first.padEnd(width)}  ${second}`).join("\n");
}
