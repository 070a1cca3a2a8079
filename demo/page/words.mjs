// Figures and facts as a person says them.

const NO_BREAK = "\u00a0";

export function bytes(count) {
  const [figure, unit] = inUnits(count);
  return `${figure}${NO_BREAK}${unit}`;
}

function inUnits(count) {
  if (count < 1024) return [count, "B"];
  if (count < 1024 ** 2) return [(count / 1024).toFixed(0), "KB"];
  if (count < 1024 ** 3) return [(count / 1024 ** 2).toFixed(1), "MB"];
  return [(count / 1024 ** 3).toFixed(0), "GB"];
}

export function milliseconds(count) {
  return `${Math.round(count).toLocaleString("en")}${NO_BREAK}ms`;
}

export function counted(count, noun) {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

export function cut(text, length) {
  return text.length <= length ? text : `${text.slice(0, length - 1).trimEnd()}…`;
}

export function moment(date) {
  return date.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}

/** The time of a day, to the second: what is told here happened just now. */
export function timeOfDay(date) {
  return date.toLocaleTimeString("en-GB");
}

export const path = (namespace) => namespace.join(" › ");

const REASONS = {
  words: "it has words of the question",
  context: "what stands beside it is about the question",
  cues: "who said it, or when, suits the question",
};

/** Why an item was found, in a sentence. */
export function whyFound(explain) {
  const reasons = Object.entries(REASONS).filter(([name]) => explain[name] > 0);
  if (reasons.length === 0) return "It has the letters of the question.";
  return sentence(reasons.map(([, reason]) => reason).join(", and "));
}

export function fitting(score) {
  return `Its score is ${score.toFixed(2)} of${NO_BREAK}1.`;
}

/** Where the memory lives: {name, hint}. */
export function place({ persistence, fallbackReason }) {
  const because = fallbackReason ? ` Why: ${fallbackReason}.` : "";
  switch (persistence) {
    case "opfs":
      return { name: "Private file, OPFS", hint: "On this device, in this site's own folder." };
    case "indexeddb":
      return { name: "IndexedDB", hint: `On this device, in the browser's database.${because}` };
    default:
      return { name: "Memory only", hint: `Gone when the last tab closes.${because}` };
  }
}

/** What this tab does for the database: {name, hint}. */
export function role({ isOwner, transport }) {
  if (isOwner) return { name: "Owner", hint: "Holds the file; other tabs go through this one." };
  const way = transport === "port" ? "a direct port" : "a broadcast channel";
  return { name: "Follower", hint: `Asks the tab that owns the file, over ${way}.` };
}

/** Whether the browser may clear the memory: {name, hint}. */
export function keeping({ persistence, persisted }) {
  if (persistence === "memory") return { name: "No", hint: "Nothing is written anywhere." };
  if (persisted) return { name: "Protected", hint: "The browser does not clear it by itself." };
  return { name: "Best effort", hint: "The browser may clear it if the disk gets full." };
}

const ADVICE = {
  storage_full: "Delete something, or free some space on this device.",
  busy: "Another tab has the memory and does not answer. Close it, or try again.",
  newer_version: "Reload this page.",
  newer_schema: "The memory was written by a newer version. It was not touched.",
  not_a_database: "Nothing was changed.",
  foreign_file: "Nothing was changed.",
  corrupt: "The damaged memory is kept aside.",
};

/** An error as a person reads it: what happened, and what can be done. */
export function explained(error) {
  const what = String(error?.message ?? error).replace(/^\[keepsake\] /, "");
  const advice = ADVICE[error?.code];
  return advice ? `${sentence(what)} ${advice}` : sentence(what);
}

// Unless it begins with a name, such as that of a file or a model.
function sentence(text) {
  const isWord = /^\p{L}+[\s,:]/u.test(text);
  const capitalised = isWord ? text.charAt(0).toUpperCase() + text.slice(1) : text;
  return /[.!?…]$/.test(capitalised) ? capitalised : `${capitalised}.`;
}
