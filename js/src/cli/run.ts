// Runs a command line: finds the command, prints what it answers, and says how it ended.

import { invalid, KeepsakeError, messageOf } from "../errors.js";
import { type Option, parse, remedyFor } from "./arguments.js";
import type { Command } from "./command.js";
import { COMMANDS, execute } from "./commands.js";
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

const DONE = 0;
const FAILED = 1;
const MISUSED = 2;

/** Answers the exit code: 0 done, 1 failed, 2 called wrongly. @internal */
export async function run(words: string[], streams: Streams): Promise<number> {
  const [name, ...rest] = words;
  if (name === "--version" || name === "-v") {
    streams.out(`${version()}\n`);
    return DONE;
  }
  if (name === undefined || name === "help" || name.startsWith("-")) {
    const isAsked = name === "help" || name === "--help" || name === "-h";
    (isAsked ? streams.out : streams.error)(helpOfAll());
    return isAsked ? DONE : MISUSED;
  }
  const isJson = rest.includes("--json");
  let code = MISUSED;
  try {
    const command = commandOf(name);
    if (rest.includes("--help")) {
      streams.out(helpOf(name, command));
      return DONE;
    }
    const given = parse(rest, { ...command.options, ...OPTIONS }, command.words);
    code = FAILED;
    const printed = await execute(command, given);
    if (printed === undefined) return DONE;
    streams.out(isJson ? `${JSON.stringify(printed.data)}\n` : printed.text);
    if (printed.failure === undefined) return DONE;
    streams.error(`keepsake: ${printed.failure}\n`);
    return FAILED;
  } catch (error) {
    streams.error(isJson ? jsonOf(error) : textOf(error, name, code));
    return code;
  }
}

function commandOf(name: string): Command {
  if (Object.hasOwn(COMMANDS, name)) return COMMANDS[name] as Command;
  const remedy = remedyFor(name, Object.keys(COMMANDS));
  throw invalid(`unknown command ${JSON.stringify(name)}: ${remedy}`);
}

function jsonOf(error: unknown): string {
  const code = error instanceof KeepsakeError ? error.code : "internal";
  return `${JSON.stringify({ error: { code, message: messageOf(error) } })}\n`;
}

function textOf(error: unknown, name: string, code: number): string {
  const help = Object.hasOwn(COMMANDS, name) ? `keepsake ${name} --help` : "keepsake --help";
  const hint = code === MISUSED ? `\`${help}\` says how.\n` : "";
  const label = error instanceof KeepsakeError ? `${error.code}: ` : "";
  return `keepsake: ${label}${messageOf(error).replace(/^\[keepsake\] /, "")}\n${hint}`;
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
    "",
  ].join("\n");
}

function helpOf(name: string, { words, says, options }: Command): string {
  const rows = Object.entries({ ...options, ...OPTIONS }).map(([option, { takes, says: what }]) => [
    takes === undefined ? `--${option}` : `--${option} ${takes}`,
    what,
  ]);
  return `  npx keepsake ${name} ${words.join(" ")}\n\n${capital(says)}.\n\n${columns(rows)}\n`;
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

function columns(rows: string[][]): string {
  const width = Math.max(...rows.map(([first = ""]) => first.length));
  return rows.map(([first = "", second]) => `  ${first.padEnd(width)}  ${second}`).join("\n");
}
