// Texts with slots: {{key}}, {{value.text}}, and {{#sys.execution_id#}} as workflows write it.

const SLOT = /\{\{\s*(?:#\s*)?([^{}#\s]+)\s*(?:#\s*)?\}\}/g;

/** `template` with each slot filled. `missing` says what stands for a path that leads nowhere. */
export function fill(
  template: string,
  variables: object,
  missing: (path: string) => string,
  write: (value: unknown) => string = asText,
): string {
  return template.replace(SLOT, (_, path: string) => {
    const found = at(variables, path.split("."));
    return found === undefined || found === null ? missing(path) : write(found);
  });
}

/** What lies at this path of `object`; undefined if nothing does. */
export function at(object: unknown, path: readonly string[]): unknown {
  let found = object;
  for (const name of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, name))
      return undefined;
    found = (found as Record<string, unknown>)[name];
  }
  return found;
}

/** A text as it is, all else as JSON. */
export function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
