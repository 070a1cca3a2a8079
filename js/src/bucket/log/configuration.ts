// The index of vectors of a memory is kept in its log, as the request that configured it.

import { encodeRequest } from "../../wire/codec.js";
import { type IndexConfig, readStoreConfiguration } from "../../wire/layout.js";
import { Reader } from "../../wire/reader.js";
import { decodeRequest } from "../../wire/sent-request.js";

/** @internal */
export function configuringRequest(index: IndexConfig, now: number): Uint8Array {
  return encodeRequest({ clientId: 0, sequence: 0, now }, [
    { kind: "configureStore", index },
  ]).slice();
}

/**
 * The same request, for opening the database again: vectors of another model are deleted by then.
 *
 * @internal
 */
export function withoutReplacing(request: Uint8Array): Uint8Array {
  const index = indexIn(request);
  const kept = index && { ...index, replaceVectors: false };
  return encodeRequest({ clientId: 0, sequence: 0, now: decodeRequest(request).now }, [
    { kind: "configureStore", index: kept },
  ]).slice();
}

/** @internal */
export function indexIn(request: Uint8Array): IndexConfig | undefined {
  const [one] = decodeRequest(request).operations;
  return readStoreConfiguration(new Reader(one?.payload ?? new Uint8Array())).index;
}

/** @internal */
export function hasIndex(configuration: Uint8Array | undefined, index: IndexConfig): boolean {
  if (configuration === undefined) return false;
  const has = indexIn(configuration);
  return JSON.stringify(has) === JSON.stringify({ ...index, replaceVectors: false });
}
