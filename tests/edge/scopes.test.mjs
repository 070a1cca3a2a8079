// Scopes and policies in workerd: the object decides, not its caller.

import { audited, lineOf } from "../js/support/auditing.mjs";
import { forgotten } from "../js/support/forgetting.mjs";
import { portionsOf } from "../js/support/isolation.mjs";
import { cleanUp, startWorkerd } from "./support/workerd.mjs";

let workerd;

beforeAll(async () => {
  workerd = await startWorkerd("scopes", { classes: { MEMORY: "Memory" } });
});

afterAll(cleanUp);

test("[cap 52] callers of one object see what is theirs", async () => {
  expect(await workerd.call("isolation")).toEqual({
    own: [["notes"]],
    other: [[], []],
    threads: [["t"], []],
    whole: [["user", "ada@example%2Ecom", "notes"]],
    wholeThreads: ["user/ada@example%252Ecom/t"],
  });
});

test("[cap 90] a scope that a caller makes is within its own", async () => {
  expect(await workerd.call("within")).toEqual([["user", "bob", "user", "ada", "n"]]);
});

test("[cap 88] [cap 104] [cap 105] what a policy refuses is told by code and rule", async () => {
  const refused = await workerd.call("refusals");
  const told = refused.map(({ code, message }) => `${code} ${message}`);
  expect(told).toEqual([
    expect.stringMatching(
      /^access_denied \[keepsake\] memory\.store: .*\["facts"\] may not be written/,
    ),
    expect.stringMatching(/^quota_exceeded .*Value size 51 exceeds max 40/),
    expect.stringMatching(/^access_denied .*whole memory/),
    expect.stringMatching(/^access_denied .*whole memory/),
    expect.stringMatching(/^access_denied .*who are you\?/),
    expect.stringMatching(/^access_denied .*eve is locked out/),
  ]);
});

test("[cap 86] what is forgotten is in no cell of the object's tables", async () => {
  const { outcome, before, after, refused } = await workerd.call("forget");
  expect(outcome).toMatchObject({
    ...forgotten({ scrubbed: "host" }),
    erased: { items: 30, threads: 1 },
  });
  expect(before).toBeGreaterThan(60);
  expect(after).toBe(0);
  expect(refused).toMatchObject({ code: "held" });
});

test("[cap 103] [cap 104] what callers write and are refused is in the object's audit log", async () => {
  const { outcome, log, refused } = await workerd.call("audit");
  expect(outcome).toEqual(audited);
  expect(log.map(lineOf)).toEqual([
    "configure user/ada - known to the object - access_denied 1",
    "store user/ada user/ada/facts known to the object - access_denied 1",
    "store user/ada user/ada/notes known to the object - ok 1",
  ]);
  expect(refused).toMatchObject({ code: "access_denied" });
});

test("[cap 106] secrets are kept, or masked before they reach the object", async () => {
  const { kept, told, stored, refused } = await workerd.call("secrets");
  expect(kept).toEqual({ text: "card 4111 1111 1111 1111" });
  expect(told).toEqual([{ namespace: ["n"], key: "k", masked: ["card number"] }]);
  expect(stored).toEqual({ text: "card [card number]" });
  expect(refused).toMatchObject({ code: "secret_found" });
});

test("a forged configuration does nothing", async () => {
  const { code, item } = await workerd.call("forged");
  expect(code).toBe("invalid_operation");
  expect(item).not.toBeNull();
});

test("a caller's index is that of the memory, and can't replace its vectors", async () => {
  const { found, replaced } = await workerd.call("index");
  expect(found).toBe(1);
  expect(replaced).toMatchObject({ code: expect.stringMatching(/model_mismatch|conflicting/) });
});

test("[cap 84] [cap 85] [cap 86] [cap 87] [cap 103] a provider through a stub", async () => {
  const { recalled, scoped, cleared, events } = await workerd.call("provider");
  expect(recalled).toEqual([
    {
      id: "user:ada/tea",
      namespace: "user:ada",
      key: "tea",
      value: "likes tea",
      metadata: { class: "a", time: expect.any(String) },
      score: expect.any(Number),
    },
  ]);
  expect(scoped).toEqual([[[], "tea"]]);
  expect(cleared).toBe(1);
  expect(events).toEqual(["before recall user/ada", "after recall user/ada"]);
});

// KEEPSAKE_SCOPE_CALLS=100000 makes so many.
test("[cap 52] scopes are as memories of their own, through a stub", async () => {
  for (const portion of portionsOf(Number(process.env.KEEPSAKE_SCOPE_CALLS ?? 1400)))
    expect(await workerd.call("random", portion)).toBe("");
}, 3_600_000);
