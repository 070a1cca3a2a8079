// Whose items a server works with, and where they are.

import { levelOf } from "../scope/scope.js";

/** As the command line has it. @internal */
export interface PlaceWords {
  user?: string | undefined;
  app?: string | undefined;
  /** Within the scope. */
  namespace?: string[] | undefined;
}

/** Where items are that are nobody's own. @internal */
export const COMMON = "memory";

/** A user's place is that of `memory.scoped({ user })`. @internal */
export function placeFor({ user, app, namespace = [] }: PlaceWords): string[] {
  const scope = [
    ...(app === undefined ? [] : levelOf("--app", { global: app }).place),
    ...(user === undefined ? [] : levelOf("--user", { user }).place),
  ];
  const labels = [...scope, ...namespace];
  return labels.length === 0 ? [COMMON] : labels;
}
