// How a device stands to the bucket, as a person says it.
import { counted, explained, timeOfDay } from "../words.mjs";

// The bucket is not the one that was synced with: it was emptied, or its server has another one.
const LOST = ["rolled_back", "conflicting_options"];

/** In a sentence. Nothing in it goes on by itself: it is read aloud when it changes. */
export function standingOf({ status, isOffline, isReaching }) {
  const { waiting, waitingSince, error } = status;
  const writes = counted(waiting, "write");
  const wait = waiting === 0 ? "Nothing waits" : `${writes} ${waiting === 1 ? "waits" : "wait"}`;
  const waits = waitingSince ? `${wait} since ${timeOfDay(waitingSince)}` : wait;
  if (isOffline) return `Offline. ${waits}.`;
  if (!isReaching || error?.code === "unreachable") return `The bucket can’t be reached. ${waits}.`;
  if (error !== undefined) return `${explained(error)} ${waits}.`;
  if (waiting > 0) return `${waits}, and ${waiting === 1 ? "goes" : "go"} up now.`;
  if (status.isForgetting) return "What was forgotten is being deleted from the bucket, too.";
  return "In step with the bucket.";
}

export function isBucketLost({ error }) {
  return LOST.includes(error?.code);
}

/** What was refused when it came after the writes of others; undefined if nothing was. */
export function asideOf({ setAside }) {
  const [first, ...others] = setAside;
  if (first === undefined) return undefined;
  const why =
    first.code === "held"
      ? "the facts had been put on hold before, and must not be forgotten."
      : explained(first);
  const more =
    others.length > 0 ? ` So was what came after it: ${counted(others.length, "write")}.` : "";
  return `What you did at ${timeOfDay(first.at)} was set aside: ${why}${more}`;
}
