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
