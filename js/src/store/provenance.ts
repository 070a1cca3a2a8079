// Where items come from: what a put says of it, and what an item tells.

import { checkChoice, checkText } from "../checks.js";
import type { Item as CoreItem, Provenance, ProvenanceFilter } from "../wire/layout.js";

/** Who or what an item comes from. */
export const Origin = { user: 1, tool: 2, web: 3, model: 4 } as const;
/** Who or what an item comes from. */
export type Origin = keyof typeof Origin;

/** Where an item comes from, as whoever put it said. */
export interface ItemProvenance {
  /** Absent: nobody said. */
  origin?: Origin;
  /** A URL, a tool's name, a file, a run. */
  source?: string;
  /** A policy keeps it out of searches, unless they say `includeQuarantined`. */
  quarantined?: true;
}

/** What an item tells of where it comes from; nothing is there that it does not tell. @internal */
export function toldOf({
  origin,
  source,
}: ItemProvenance): Pick<ItemProvenance, "origin" | "source"> {
  return { ...(origin && { origin }), ...(source && { source }) };
}

/**
 * Whether an item is of a tool or of the web, whose word counts less than a model's: no text of it
 * may come to stand under a model's name. What has a source and no origin is taken for such.
 * @internal
 */
export function isForeign({ origin, source }: ItemProvenance): boolean {
  return origin === undefined ? source !== undefined : origin === "tool" || origin === "web";
}

/** Of what `origin` makes of an item, whose text stays: the item's, if that counts less. @internal */
export function changedBy(origin: Origin, item: ItemProvenance): GivenProvenance {
  if (!isForeign(item)) return { origin };
  return { origin: item.origin, source: item.source };
}

/** @internal */
export interface GivenProvenance {
  origin?: Origin | undefined;
  source?: string | undefined;
}

/** @internal */
export function provenanceToCore({ origin, source }: GivenProvenance): Provenance | undefined {
  if (origin === undefined && source === undefined) return undefined;
  return {
    origin: origin === undefined ? "unknown" : checkChoice("origin", Origin, origin),
    source: source === undefined ? "" : checkText("source", source),
    isQuarantined: false,
  };
}

/** @internal */
export function provenanceFilter(
  given: GivenProvenance & { sourcePrefix?: string | undefined },
): ProvenanceFilter | undefined {
  const { origin, sourcePrefix } = given;
  const source = sourcePrefix ?? given.source;
  const provenance = provenanceToCore({ origin, source });
  if (provenance === undefined) return undefined;
  const isPrefix = sourcePrefix !== undefined;
  return { origin: provenance.origin, source: provenance.source, isPrefix };
}

/** @internal */
export function tellProvenance(from: CoreItem["provenance"], item: ItemProvenance): void {
  if (from === undefined) return;
  if (from.origin !== "unknown") item.origin = from.origin;
  if (from.source !== "") item.source = from.source;
  if (from.isQuarantined) item.quarantined = true;
}
