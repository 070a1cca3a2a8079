// Bytes that come in parts.

/** @internal */
export function joined(parts: Uint8Array[]): Uint8Array {
  const [first] = parts;
  if (parts.length === 1 && first !== undefined) return first;
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** All of a body. `onPart` is told how much is there, and may throw: then no more is read. @internal */
export async function readAll(
  body: ReadableStream<Uint8Array> | null,
  onPart: (length: number) => void,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  const reader = body?.getReader();
  try {
    for (;;) {
      onPart(length);
      const part = await reader?.read();
      if (part === undefined || part.done) return joined(parts);
      length += part.value.length;
      parts.push(part.value);
    }
  } catch (error) {
    await reader?.cancel().catch(() => {});
    throw error;
  }
}
