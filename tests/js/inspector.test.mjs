// keepsake/inspector where there are no elements: a page that a server renders imports it, too.

import { KeepsakeInspector } from "keepsake/inspector";

test("on a server it is imported, and defines nothing", () => {
  expect(globalThis.customElements).toBeUndefined();
  expect(new KeepsakeInspector().memory).toBeUndefined();
});

test("a store in place of a memory is refused there, too", () => {
  const inspector = new KeepsakeInspector();
  expect(() => {
    inspector.memory = "agent.db";
  }).toThrow(
    expect.objectContaining({
      code: "invalid_argument",
      message:
        '[keepsake] <keepsake-inspector>: memory must be what openMemory() resolves to: "agent.db"',
    }),
  );
});

test("what is no title of threads is refused", () => {
  const inspector = new KeepsakeInspector();
  expect(() => {
    inspector.threadTitle = "My thread";
  }).toThrow(
    /threadTitle must be a function that answers a text for the id of a thread: "My thread"/,
  );
});

test("what is no list of scopes is refused", () => {
  const inspector = new KeepsakeInspector();
  for (const scopes of [undefined, [{ store: 1 }]]) {
    expect(() => {
      inspector.scopes = scopes;
    }).toThrow(
      expect.objectContaining({
        code: "invalid_argument",
        message: expect.stringMatching(
          /^\[keepsake\] <keepsake-inspector>: scopes must be a list of what memory\.scoped\(\) answers: /,
        ),
      }),
    );
  }
});
