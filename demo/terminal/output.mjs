// Lines for a person: wrapped to the window, coloured and with a moving progress line
// only where a person is looking, and never coloured against NO_COLOR.
import { stripVTControlCharacters } from "node:util";

const DEFAULT_WIDTH = 80;
const READABLE_WIDTH = 100;
const LEAST_WIDTH = 40;
const PROGRESS_INTERVAL_MS = 50;

export class Output {
  #stream;
  #colours;
  #lastProgress = 0;

  constructor(stream = process.stdout, env = process.env) {
    this.#stream = stream;
    this.#colours = Boolean(stream.isTTY) && !env.NO_COLOR && env.TERM !== "dumb";
  }

  get width() {
    const columns = this.#stream.columns || DEFAULT_WIDTH;
    return Math.max(LEAST_WIDTH, Math.min(columns, READABLE_WIDTH)) - 1;
  }

  title(text) {
    this.#write(`\n${this.bold(text)}\n\n`);
  }

  heading(number, text) {
    this.#write(`\n${this.cyan(number)}  ${this.bold(text)}\n\n`);
  }

  blank() {
    this.#write("\n");
  }

  // A paragraph. `first` opens its first line, the others are indented as wide.
  text(text, { first = "  ", style = (line) => line } = {}) {
    const indent = " ".repeat(visibleLength(first));
    const lines = wrapped(text, this.width - indent.length);
    const styled = lines.map((line, i) => `${i === 0 ? first : indent}${style(line)}\n`);
    this.#write(styled.join(""));
  }

  // A single line: what does not fit is cut.
  line(text, { first = "  " } = {}) {
    this.#write(`${first}${cut(text, this.width - visibleLength(first))}\n`);
  }

  field(name, text) {
    this.text(text, { first: `  ${this.dim(name.padEnd(14))}` });
  }

  progress(done, total, label) {
    if (!this.#stream.isTTY) return;
    const now = performance.now();
    if (done < total && now - this.#lastProgress < PROGRESS_INTERVAL_MS) return;
    this.#lastProgress = now;
    const room = Math.min(30, this.width - 24);
    const filled = Math.round((room * done) / total);
    const bar = this.cyan("█".repeat(filled)) + this.dim("░".repeat(room - filled));
    this.#write(`\r\x1b[2K  ${bar} ${done}/${total} ${cut(label, this.width - room - 16)}`);
    if (done === total) this.#write("\r\x1b[2K");
  }

  bold = (text) => this.#styled(1, text);
  dim = (text) => this.#styled(2, text);
  red = (text) => this.#styled(31, text);
  green = (text) => this.#styled(32, text);
  yellow = (text) => this.#styled(33, text);
  cyan = (text) => this.#styled(36, text);

  #styled(code, text) {
    return this.#colours ? `\x1b[${code}m${text}\x1b[0m` : text;
  }

  #write(text) {
    this.#stream.write(text);
  }
}

export function bytes(count) {
  if (count < 1024) return `${count} B`;
  if (count < 1024 ** 2) return `${(count / 1024).toFixed(0)} KB`;
  return `${(count / 1024 ** 2).toFixed(1)} MB`;
}

export function seconds(milliseconds) {
  if (milliseconds < 10) return `${milliseconds.toFixed(2)} ms`;
  if (milliseconds < 1000) return `${milliseconds.toFixed(0)} ms`;
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

export function counted(count, noun) {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function wrapped(text, width) {
  const lines = [""];
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1);
    if (line !== "" && line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return lines;
}

function cut(text, width) {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1)).trimEnd()}…`;
}

function visibleLength(text) {
  return stripVTControlCharacters(text).length;
}
