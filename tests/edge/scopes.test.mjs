// Scopes and policies in workerd: the object decides, not its caller.

import { audited, lineOf } from "../js/support/auditing.mjs";
import { times } from "../js/support/effort.mjs";
import { forgotten } from "../js/support/forgetting.mjs";
import { portionsOf } from "../js/support/isolation.mjs";
import { wire } from "../js/support/wire.mjs";
import { cleanUp, startWorkerd } from "./support/workerd.mjs";

let workerd;

beforeAll(async () => {
  workerd = await startWorkerd("scopes", { classes: { MEMORY: "Memory" } });
});

afterAll(cleanUp);

test("callers of one object see what is theirs", async () => {
  expect(await workerd.call("isolation")).toEqual({
    own: [["notes"]],
    other: [[], []],
    threads: [["t"], []],
    whole: [["user", "ada@example%2Ecom", "notes"]],
    wholeThreads: ["user/ada@example%252Ecom/t"],
  });
});

test("a scope that a caller makes is within its own", async () => {
  expect(await workerd.call("within")).toEqual([["user", "bob", "user", "ada", "n"]]);
});

test("what a policy refuses is told by code and rule", async () => {
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

test("what is forgotten is in no cell of the object's tables", async () => {
  const { outcome, before, after, refused } = await workerd.call("forget");
  expect(outcome).toMatchObject({
    ...forgotten({ scrubbed: "host" }),
    erased: { items: 30, threads: 1 },
  });
  expect(before).toBeGreaterThan(60);
  expect(after).toBe(0);
  expect(refused).toMatchObject({ code: "held" });
});

test("what callers write and are refused is in the object's audit log", async () => {
  const { outcome, log, refused } = await workerd.call("audit");
  expect(outcome).toEqual(audited);
  expect(log.map(lineOf)).toEqual([
    "configure user/ada - known to the object - access_denied 1",
    "store user/ada user/ada/facts known to the object - access_denied 1",
    "store user/ada user/ada/notes known to the object - ok 1",
  ]);
  expect(refused).toMatchObject({ code: "access_denied" });
});

describe("a forged request", () => {
  const item = (user, key) => ["user", user, "notes", key, expect.any(Number)];
  const put = (key) => ({ kind: "put", namespace: ["notes"], key, value: "{}" });
  const configure = {
    kind: "configureStore",
    index: { dims: 3, fields: ["$"], model: "forged", replaceVectors: true },
  };
  const frameOf = (operations, more = {}) => [
    ...wire.encodeRequest({ clientId: 7, sequence: 1, now: Date.now(), ...more }, operations),
  ];
  const watch = (name, frames) => workerd.call("watched", { name, frames });
  const answersOf = ({ frame }, operations) =>
    wire.decodeResponse(Uint8Array.from(frame), operations);
  const bob = { user: "bob" };

  test("configures nothing: not with flags, not in the middle, not by the owner", async () => {
    const { answers, items } = await watch("configures", [
      { caller: bob, frame: frameOf([configure]) },
      { caller: bob, frame: frameOf([configure], { acknowledged: 0 }) },
      { caller: bob, frame: frameOf([put("1"), configure, put("2")]) },
      { caller: "admin", frame: frameOf([configure], { acknowledged: 0 }) },
    ]);
    expect(answers).toEqual(
      Array(4).fill({ code: "access_denied", message: expect.stringContaining("configureStore") }),
    );
    expect(items).toEqual([item("ada", "kept")]);
  });

  test("gives up no vectors", async () => {
    const settings = { index: { ...configure.index, dims: 2 } };
    const name = "forged index";
    const { stats } = await workerd.call("index", name);
    expect(stats).toMatchObject({ vectors: 1 });
    const frames = [frameOf([configure], { acknowledged: 0 }), frameOf([put("1")])];
    for (const frame of frames)
      for (const given of [undefined, settings])
        await workerd.call("raw", { name, caller: bob, frame, settings: given });
    expect((await workerd.call("index", name)).stats).toMatchObject({ vectors: 1 });
  });

  test("does nothing else by what it calls settings", async () => {
    const settings = { kind: "hold", namespace: ["user", "ada"], reason: "forged" };
    const hold = { kind: "hold", namespace: ["user", "eve"], reason: "asked for" };
    const holds = { kind: "listHolds" };
    const [name, caller] = ["forged settings", "admin"];
    const call = (operation, more) =>
      workerd.call("raw", { name, caller, frame: frameOf([operation]), ...more });
    await call(hold, { settings });
    const told = answersOf(await call(holds), [holds])[0];
    expect(told.map(({ reason }) => reason)).toEqual(["asked for"]);
  });

  test("reaches no other database, and no budget of all", async () => {
    const options = { path: "1", durability: "relaxed" };
    const operations = [
      { kind: "limitVectors", bytes: 0 },
      { kind: "importFrom", ...options },
      { kind: "salvage", ...options },
      { kind: "foreignOpen", ...options },
    ];
    const frames = operations.flatMap((one) =>
      ["admin", bob].map((caller) => ({ caller, frame: frameOf([one]) })),
    );
    const { answers } = await watch("host", frames);
    expect(answers.map(({ code }) => code)).toEqual(Array(8).fill("access_denied"));
  });

  test("tells of no change but its own", async () => {
    const changes = { namespaces: [["user", "ada"]], threads: ["user/ada/t"], everything: true };
    const denied = { kind: "put", namespace: ["facts"], key: "k", value: "{}" };
    const clear = { kind: "clearNamespace", namespace: ["facts"] };
    const { heard } = await watch("changes", [
      { caller: bob, frame: frameOf([put("1")]), changes },
      { caller: bob, frame: frameOf([{ kind: "listKeys", namespace: ["notes"] }]), changes },
      { caller: bob, frame: frameOf([denied], { sequence: 2 }), changes },
      // One of two is refused, and only the other one is told.
      { caller: bob, frame: frameOf([put("2"), clear], { sequence: 3 }), changes },
    ]);
    const own = { namespaces: [["user", "bob", "notes"]], threads: [], everything: false };
    expect(heard).toEqual([own, own]);
  });

  test("brings no time: neither 1970 nor the far future", async () => {
    const { items, log, now } = await watch("clock", [
      { caller: bob, frame: frameOf([put("1")], { now: 0 }) },
      { caller: bob, frame: frameOf([put("2")], { now: 8_640_000_000_000_000, sequence: 2 }) },
      { caller: "admin", frame: frameOf([put("3")], { now: 0, sequence: 3 }) },
    ]);
    const times = [...items.map((one) => one.at(-1)), ...log.map(({ time }) => Date.parse(time))];
    expect(times.length).toBeGreaterThanOrEqual(8);
    const day = 24 * 60 * 60_000;
    for (const time of times) expect(Math.abs(time - now)).toBeLessThan(day);
  });

  test("gets no answer of another caller, and its own write is done", async () => {
    const remembered = { acknowledged: 0, clientId: 42, sequence: 5 };
    const clear = [{ kind: "clearNamespace", namespace: ["notes"] }];
    const own = [{ caller: { user: "ada" }, frame: frameOf(clear, remembered) }];
    const { answers, items } = await watch("answers", [
      ...own,
      { caller: bob, frame: frameOf(clear, remembered) },
      { caller: { user: "eva" }, frame: frameOf([put("1")], remembered) },
      // What bob acknowledges is not hers.
      { caller: bob, frame: frameOf([put("2")], { ...remembered, sequence: 9, acknowledged: 8 }) },
      ...own,
      { caller: "admin", frame: frameOf([{ ...put("3"), namespace: ["all"] }], remembered) },
    ]);
    expect(answersOf(answers[0], clear)).toEqual([1]);
    expect(answersOf(answers[1], clear)).toEqual([0]);
    expect(answersOf(answers[4], clear)).toEqual([1]);
    expect(items.sort()).toEqual([
      ["all", "3", expect.any(Number)],
      item("bob", "2"),
      item("eva", "1"),
    ]);
  });

  test("is none if it is not as it would be made", async () => {
    const good = frameOf([put("1")]);
    const spoilt = [
      good.slice(0, -1),
      [...good, 0],
      good.with(2, 8),
      good.with(2, 2),
      good.with(1, 2),
      good.with(28, 200),
      [],
    ];
    const { answers, items } = await watch("spoilt", [
      ...spoilt.map((frame) => ({ caller: bob, frame })),
      { caller: bob, frame: good.with(32, 250) },
    ]);
    expect(answers.map(({ code }) => code)).toEqual([
      ...Array(7).fill("malformed_frame"),
      "invalid_operation",
    ]);
    expect(items).toEqual([item("ada", "kept")]);
  });
});

test("an index that is not the object's is refused alone, also after a restart", async () => {
  const { refused, found, without, stats } = await workerd.call("index");
  for (const { code, message } of refused) {
    expect(code).toBe("conflicting_options");
    expect(message).toContain("memoryOptions()");
  }
  expect(refused).toHaveLength(4);
  expect([found, without]).toEqual([1, 0]);
  expect(stats).toMatchObject({ vectors: 1, pending: 0 });
});

test("where the object has no index no scoped caller brings one", async () => {
  const { refused, own, pending } = await workerd.call("noIndex");
  for (const { code, message } of refused) {
    expect(code).toBe("conflicting_options");
    expect(message).toContain("the object has none: give it in memoryOptions()");
  }
  expect(refused).toHaveLength(2);
  // The owner may still choose another one.
  expect([own, pending]).toEqual([1, 1]);
});

test("a stub takes no clock", async () => {
  expect(await workerd.call("now")).toMatchObject({
    code: "invalid_argument",
    message: expect.stringContaining("now is the object's"),
  });
});

test("settings of two scoped callers are answered as by two objects", async () => {
  for (const seed of [1, 2]) expect(await workerd.call("settings", { seed, rounds: 8 })).toBe("");
});

test("scopes are as memories of their own, through a stub", async () => {
  for (const portion of portionsOf(times(1400)))
    expect(await workerd.call("random", portion)).toBe("");
}, 3_600_000);
