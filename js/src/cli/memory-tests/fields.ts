// What tests say of themselves, read field by field; an error says where it stands.

import {
  checkEach,
  checkList,
  checkOptions,
  checkText,
  checkTime,
  isList,
  type NamesOf,
  show,
} from "../../checks.js";
import { detailOf, invalid, KeepsakeError } from "../../errors.js";
import type { ScopeOptions } from "../../scope/scope.js";
import { checkNamespace } from "../../store/store-operations.js";
import { namespaceOf } from "../arguments.js";
import { pathOf } from "../output.js";

/** A part of a memory: what a scope sees below a namespace. */
export interface View {
  scope: ScopeOptions | undefined;
  namespace: string[];
}

/** The same, of which only what a filter lets through. */
export interface FilteredView extends View {
  filter: Record<string, unknown> | undefined;
}

/** What the parts of a file say that say nothing else. */
export interface Usual extends View {
  k: number;
}

/** Where something lies. */
export const PLACE = { scope: 1, namespace: 1 } as const;
export type Fields<Names> = { [Name in keyof Names]?: unknown };

/** A copy of an object all of whose fields are known. */
export function fields<Names extends object>(
  where: string,
  names: Names,
  given: unknown,
): Fields<Names> {
  if (typeof given !== "object" || given === null || isList(given)) {
    throw invalid(`${where} must be an object: ${show(given)}`);
  }
  return checkOptions(where, names as NamesOf<Fields<Names>>, given as Fields<Names>);
}

export function viewOf(where: string, given: Fields<typeof PLACE>, usual: View): View {
  const { scope, namespace } = given;
  return {
    // Its names are checked by memory.scoped().
    scope: scope === undefined ? usual.scope : (scope as ScopeOptions | null) || undefined,
    namespace:
      namespace === undefined ? usual.namespace : namespaceIn(`namespace of ${where}`, namespace),
  };
}

export function namespaceIn(where: string, given: unknown): string[] {
  if (typeof given === "string") return namespaceOf(given);
  try {
    return checkNamespace(given as string[]);
  } catch (error) {
    return located(where)(error);
  }
}

export function timeOf(where: string, given: unknown): number | undefined {
  return given === undefined ? undefined : checkTime(where, given);
}

export function textOf(where: string, given: unknown): string {
  return checkText(where, given as string);
}

export function textsOf(where: string, given: unknown = []): string[] {
  return checkEach(where, checkList(where, given as string[]), (text) =>
    textOf(`a text of ${where}`, text),
  );
}

/** The same, where there must be one. */
export function someTexts(where: string, given: unknown): string[] {
  const texts = textsOf(where, given);
  if (texts.length > 0) return texts;
  throw invalid(`${where} is empty`);
}

/** Throws an error of the package again, with where in a file its cause stands. */
export function located(where: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof KeepsakeError)) throw error;
    throw new KeepsakeError(error.code, `${where}: ${detailOf(error)}`, { cause: error });
  };
}

/** What a person reads of a place: `user ada, facts`. */
export function shownView({ scope, namespace, filter }: View & Partial<FilteredView>): string {
  const whose = Object.entries(scope ?? {})
    .filter(([kind]) => kind !== "policy")
    .map(([kind, id]) => `${kind} ${isList(id) ? id.join("/") : id}`);
  const parts = [
    ...whose,
    ...(namespace.length === 0 ? [] : [pathOf(namespace)]),
    ...(filter === undefined ? [] : [JSON.stringify(filter)]),
  ];
  return parts.length === 0 ? "the whole memory" : parts.join(", ");
}
