// The parts of the codec that the golden frames can't show: texts and numbers at
// their limits, and buffers that grow.

import { header, hex, wire } from "./support/wire.mjs";

function roundTrip(text) {
  const writer = new wire.Writer();
  writer.text(text);
  return new wire.Reader(writer.finish()).text();
}

function encoded(text) {
  const writer = new wire.Writer();
  writer.text(text);
  return hex(writer.finish().subarray(4));
}

test.each([
  ["nothing", ""],
  ["one character", "a"],
  ["NUL", "a\0b"],
  ["a byte order mark", "\ufeffa"],
  ["two bytes each", "äöüß".repeat(20)],
  ["three bytes each", "記憶".repeat(5000)],
  ["surrogate pairs", "🗝".repeat(5000)],
  ["non-ASCII at the end of a short text", `${"a".repeat(20)}é`],
  ["non-ASCII at the end of a long text", `${"a".repeat(100_000)}é`],
  ["ten million characters", "x".repeat(10_000_000)],
])("a text of %s survives", (_, text) => {
  expect(roundTrip(text) === text).toBe(true);
});

test("texts of every length around the short ones survive", () => {
  for (let length = 0; length < 200; length++) {
    expect(roundTrip("a".repeat(length))).toBe("a".repeat(length));
    expect(roundTrip("é".repeat(length))).toBe("é".repeat(length));
  }
});

test("a lone surrogate is written as the three bytes it would have, not replaced", () => {
  expect(encoded("\ud83d")).toBe("eda0bd");
  expect(encoded("\udc00")).toBe("edb080");
  expect(encoded("é\ud83dx🗝\udfff")).toBe("c3a9eda0bd78f09f979dedbfbf");
  expect(encoded(`${"a".repeat(100)}\ud83d`)).toBe(`${"61".repeat(100)}eda0bd`);
});

test("integers survive to the ends of their ranges", () => {
  const writer = new wire.Writer();
  const wide = [0, -1, 2 ** 32, -(2 ** 32) - 1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER];
  for (const value of wide) writer.i64(value);
  for (const value of [0, -1, 2 ** 31 - 1, -(2 ** 31)]) writer.i32(value);
  for (const value of [0, 2 ** 32 - 1]) writer.u32(value);
  const reader = new wire.Reader(writer.finish());
  for (const value of wide) expect(reader.i64()).toBe(value);
  for (const value of [0, -1, 2 ** 31 - 1, -(2 ** 31)]) expect(reader.i32()).toBe(value);
  for (const value of [0, 2 ** 32 - 1]) expect(reader.u32()).toBe(value);
  expect(reader.remaining).toBe(0);
});

test.each([-1, 1.5, 2 ** 32, Number.NaN, Number.POSITIVE_INFINITY])(
  "the limit %d is refused instead of arriving as another number",
  (limit) => {
    const search = { kind: "search", namespacePrefix: [], limit };
    expect(() => wire.encodeRequest(header, [search])).toThrow(RangeError);
  },
);

test("a time that is no safe integer is refused", () => {
  expect(() => wire.encodeRequest({ ...header, now: 0.5 }, [])).toThrow(RangeError);
  expect(() => wire.encodeRequest({ ...header, now: 2 ** 53 }, [])).toThrow(RangeError);
});

test("a request refused half-way leaves nothing behind in the next one", () => {
  const expected = hex(wire.encodeRequest(header, [{ kind: "flush" }]));
  const bad = { kind: "sweepExpired", maxItems: -1 };
  expect(() => wire.encodeRequest(header, [bad])).toThrow(RangeError);
  expect(hex(wire.encodeRequest(header, [{ kind: "flush" }]))).toBe(expected);
});

test("a request is a view that the next one overwrites, but its copy stays", () => {
  const first = wire.encodeRequest(header, [{ kind: "deleteThread", threadId: "one" }]);
  const copy = first.slice();
  wire.encodeRequest(header, [{ kind: "deleteThread", threadId: "two" }]);
  expect(hex(first)).not.toBe(hex(copy));
  expect(hex(copy)).toContain(hex(Buffer.from("one")));
});

test("vectors survive wherever they lie in a buffer", () => {
  const values = new Float32Array([1, 2, 3, 4]).subarray(1, 3);
  for (let padding = 0; padding < 5; padding++) {
    const writer = new wire.Writer();
    for (let i = 0; i < padding; i++) writer.u8(0);
    writer.floats(values);
    const reader = new wire.Reader(writer.finish());
    for (let i = 0; i < padding; i++) reader.u8();
    expect(Array.from(reader.floats())).toEqual([2, 3]);
  }
});

test("namespaces survive beside ones that begin alike, and none is another's array", () => {
  const namespaces = [["a", "b"], ["a", "b"], ["a"], ["a", "b", "c"], ["a", "bc"], [], [], ["a"]];
  const writer = new wire.Writer();
  for (const namespace of namespaces) {
    writer.texts(namespace);
    writer.u8(7);
  }
  const reader = new wire.Reader(writer.finish());
  const taken = namespaces.map(() => {
    const namespace = reader.namespace();
    reader.u8();
    return namespace;
  });
  expect(taken).toEqual(namespaces);
  expect(taken[0]).not.toBe(taken[1]);
});

test("bytes outlive the response, all of them in one copy of it", () => {
  const writer = new wire.Writer();
  writer.bytes(new Uint8Array([7, 8]));
  writer.bytes(new Uint8Array([9]));
  const response = writer.finish();
  const reader = new wire.Reader(response);
  const taken = [reader.bytes(), reader.bytes()];
  response.fill(0);
  expect(taken.map((bytes) => Array.from(bytes))).toEqual([[7, 8], [9]]);
  expect(taken[0].buffer).toBe(taken[1].buffer);
});

test("an unknown status code is an internal error with its message", () => {
  const failed = new Uint8Array([
    ...[1, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    ...[1, 0, 0, 0, 0xff, 0xff, 2, 0, 0, 0, 0x68, 0x69],
  ]);
  expect(wire.decodeOpened(failed)).toMatchObject({ code: "internal", message: "hi" });
});
