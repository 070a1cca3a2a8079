// Figures and facts as a person says them.

import { detailOf } from "../errors.js";
import type { WhyNot } from "../store/store.js";
import type { SearchItem } from "../store/store-operations.js";

export function bytes(count: number): string {
  if (count < 1024) return `${count} B`;
  if (count < 1024 ** 2) return `${(count / 1024).toFixed(0)} KB`;
  if (count < 1024 ** 3) return `${(count / 1024 ** 2).toFixed(1)} MB`;
  return `${(count / 1024 ** 3).toFixed(1)} GB`;
}

export function counted(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/** For how many minutes something is kept, behind what is said of it. */
export function forAge(maxAge: number | undefined): string {
  return maxAge === undefined ? "" : `, for ${counted(maxAge, "minute")}`;
}

export function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).trimEnd()}…`;
}

const MOMENT = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });

export function moment(date: Date | string): string {
  const known = new Date(date);
  return Number.isNaN(known.getTime()) ? "unknown" : MOMENT.format(known);
}

const THIS_YEAR = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
});

/** As `moment()`, in a list: the year is said only if it is another one. */
export function briefMoment(date: Date | string): string {
  const known = new Date(date);
  const isThisYear = known.getFullYear() === new Date().getFullYear();
  return isThisYear ? THIS_YEAR.format(known) : moment(date);
}

/** A namespace, with a key behind it if there is one. */
export function pathOf(namespace: readonly string[], key?: string): string {
  return [...namespace, ...(key === undefined ? [] : [key])].join(" / ");
}

const PREVIEW = 160;

/** A value in one line: its text, if it has one that people read. */
export function preview(value: unknown): string {
  const { text, title, content } = (value ?? {}) as Record<string, unknown>;
  const read = [text, title, content].find((part) => typeof part === "string" && part !== "");
  return cut((read as string | undefined) ?? shortJson(value), PREVIEW);
}

// Not all of a large value, only to show its beginning.
function shortJson(value: unknown): string {
  const fields = Object.entries((value ?? {}) as object).slice(0, 8);
  const parts = fields.map(([name, part]) => `${name}: ${brief(part)}`);
  return parts.join(" · ") || "{}";
}

function brief(value: unknown): string {
  if (typeof value === "string") return cut(value, PREVIEW);
  if (Array.isArray(value)) return counted(value.length, "entry").replace("entrys", "entries");
  return typeof value === "object" && value !== null ? "{…}" : String(value);
}

/** JSON as it is read; messages by their class and content. */
export function pretty(value: unknown): string {
  return JSON.stringify(value, (_, part) => asRead(part), 2) ?? "undefined";
}

// What LangChain's classes become as JSON.
function asRead(part: unknown): unknown {
  if (typeof part !== "object" || part === null) return part;
  const { lc, id, kwargs } = part as { lc?: unknown; id?: unknown; kwargs?: unknown };
  if (lc !== 1 || !Array.isArray(id) || kwargs === undefined) return part;
  return { [String(id.at(-1))]: kwargs };
}

const MOST_WORDS = 6;
const percent = (part: number) => `${Math.round(part * 100)} %`;

const REASONS: Record<string, (value: number, hit: SearchItem) => string | undefined> = {
  words: (value, hit) => (value > 0 ? holding(hit) : undefined),
  context: (value) => (value > 0 ? "What stands beside it is about the question." : undefined),
  cues: (value) =>
    value > 0 ? "Who said it, when, or how suits what the question asks." : undefined,
  vector: (value) => `Its meaning is ${nearness(value)} the question.`,
  agreement: (value) =>
    value < 0.05
      ? "Meaning did not count here, because it does not agree with the words."
      : undefined,
  recency: (value) => (value < 1 ? `It is older, which took ${percent(1 - value)}.` : undefined),
  diversity: (value) =>
    value < 1 ? `An earlier hit says much the same, which took ${percent(1 - value)}.` : undefined,
};

// The words themselves, if the hit brings them.
function holding({ snippet }: SearchItem): string {
  const found = snippet?.highlights.map(([begin, end]) => snippet.text.slice(begin, end)) ?? [];
  const words = [...new Set(found.map((word) => word.toLowerCase()))].slice(0, MOST_WORDS);
  if (words.length === 0) return "It holds words of the question, or other forms of them.";
  const list = words.map((word) => `“${word}”`).join(", ");
  return `It holds ${list}, as the question does.`;
}

function nearness(cosine: number): string {
  if (cosine >= 0.8) return "very near to";
  if (cosine >= 0.5) return "near to";
  return cosine >= 0.2 ? "somewhat near to" : "far from";
}

/** Why it was found, in sentences. */
export function whyFound(hit: SearchItem, query: string): string[] {
  if (query === "") return ["Nothing was asked: the newest items come first."];
  const parts = Object.entries(hit.explain ?? {});
  const reasons = parts.map(([name, value]) =>
    Object.hasOwn(REASONS, name) ? REASONS[name]?.(value, hit) : boosted(name, value),
  );
  const said = reasons.filter((reason) => reason !== undefined);
  return said.length > 0 ? said : [withoutParts(hit, query)];
}

function withoutParts({ score, key, value }: SearchItem, query: string): string {
  const holds = `${key} ${JSON.stringify(value)}`.toLowerCase().includes(query.toLowerCase());
  if (holds) return "Its key or its value contains the question as it stands.";
  if (score === undefined) return "It has no vector, so it follows behind all that have one.";
  if (score === 0) return "Its key or its value contains the question as one piece.";
  return `Its meaning is ${nearness(score)} the question.`;
}

function boosted(name: string, factor: number): string | undefined {
  if (factor === 1) return undefined;
  return factor > 1
    ? `Its field ${name} raised it by ${percent(factor - 1)}.`
    : `Its field ${name} is low or missing, which took ${percent(1 - factor)}.`;
}

/** Why it was not found, in a sentence or two. */
export function whyMissed(why: WhyNot, prefix: readonly string[]): string {
  const scores = scoresOf(why);
  const place = why.rank === undefined ? "" : ` It is number ${why.rank + 1} among all hits.`;
  const where = prefix.length === 0 ? "the whole memory" : pathOf(prefix);
  const said: Record<WhyNot["reason"], string> = {
    hit: "It is one of the hits.",
    noItem: "There is no such item, or it has expired.",
    outsideNamespace: `It is not below ${where}, where the search looked.`,
    filter: "The filter refuses it.",
    noMatch: "It holds nothing of the question.",
    notValid: "It does not hold now: it is over, has not begun, or was superseded.",
    quarantined: "It is in quarantine.",
    belowMinScore: `Its score is below the threshold.${scores}`,
    notOnPage: `Other items come first, and the page was full.${scores}`,
  };
  return `${said[why.reason]}${why.reason === "noMatch" ? "" : place}`;
}

function scoresOf({ score, lastScore }: WhyNot): string {
  if (score === undefined) return "";
  const last = lastScore === undefined ? "" : `; the last hit has ${lastScore.toFixed(2)}`;
  return ` It has ${score.toFixed(2)}${last}.`;
}

/** An error as a person reads it. */
export function explained(error: unknown): string {
  const text = detailOf(error);
  const sentence = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(sentence) ? sentence : `${sentence}.`;
}
