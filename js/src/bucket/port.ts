// What a memory asks of an object store. Everything else is made of these four functions.

/** A range of an object's bytes: from `from` up to but not including `to`. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/** What `list()` is to answer. */
export interface ListRange {
  /** Keys up to and including this one are left out. It need not be there. */
  readonly after?: string | undefined;
  /** The most keys to answer. @default as many as the store answers at once */
  readonly limit?: number | undefined;
}

/**
 * An object store, as you may write one for a store that Keepsake has no adapter for. Keys are
 * ASCII: letters, digits, `-`, `_`, `.` and `/`. Objects are never changed: each key is created once.
 *
 * Reject with an Error whenever an answer is not known to be true. Every rejection is tried again,
 * unless it is a KeepsakeError whose code is `bucket_refused`: then no repeating helps, as with
 * wrong credentials.
 */
export interface BucketPort {
  /**
   * The object's bytes, or those of a range; undefined if there is no such object. A range that
   * ends behind the object answers what there is.
   */
  get(key: string, range?: ByteRange): Promise<Uint8Array | undefined>;
  /**
   * Creates the object, unless there is one of this key: then it answers false, and what is there
   * stays as it was. Of several that are called at once for one key, one answers true. Once it has
   * answered true, every `get()` finds the object.
   */
  create(key: string, bytes: Uint8Array): Promise<boolean>;
  /**
   * Keys that begin with `prefix`, in ascending order of their bytes. It may answer fewer than there
   * are, but none only if there are no more.
   */
  list(prefix: string, range?: ListRange): Promise<string[]>;
  /** Deletes the object. It does nothing if there is none. */
  delete(key: string): Promise<void>;
}

/** A port, and what it is called in messages. @internal */
export interface NamedPort {
  readonly port: BucketPort;
  readonly place: string;
}
