// How a file stands to the memory in a bucket that it syncs with, as far as the file itself knows:
// nothing is sent, and the bucket is not needed.

import { keyOfFile } from "./key.js";
import { bytes, plural } from "./output.js";

/** @internal */
export interface SyncFindings {
  /** What the memory is called in the bucket. */
  name: string;
  /** The last record of its log that the file has. */
  record: number;
  /** Calls whose writes only this file has. */
  waiting: number;
  waitingBytes: number;
  /** When the oldest of them was made. */
  waitingSince?: Date;
  /** Writes of this file that were refused when they came after those of others. */
  setAside: { id: number; at: Date; code: string; message: string }[];
}

/** Of a file that is open here; undefined if it does not sync. @internal */
export async function syncOf(path: string): Promise<SyncFindings | undefined> {
  const { Connection } = await import("../connection.js");
  const connection = Connection.toDatabase({ path, key: keyOfFile() });
  try {
    const [state] = await connection.call([{ kind: "syncState" }]);
    if (state === undefined) return undefined;
    const [aside] = await connection.call([{ kind: "listSetAside" }]);
    const { logId: name, number: record, waiting, waitingBytes, waitingSince } = state;
    return {
      name,
      record,
      waiting,
      waitingBytes,
      ...(waitingSince !== undefined && { waitingSince: new Date(waitingSince) }),
      setAside: aside.map(({ sequence: id, at, code, message }) => ({
        id,
        at: new Date(at),
        code,
        message,
      })),
    };
  } finally {
    await connection.close();
  }
}

/** Lines of a table. @internal */
export function rowsOfSync(sync: SyncFindings | undefined): string[][] {
  if (sync === undefined) return [];
  const { name, record, waiting, waitingBytes, waitingSince, setAside } = sync;
  const since = waitingSince === undefined ? "" : ` since ${waitingSince.toISOString()}`;
  return [
    [
      "syncs with",
      `the memory ${JSON.stringify(name)} in a bucket, and has its log up to record ${record}`,
    ],
    [
      "waiting",
      waiting === 0 ? "nothing" : `${plural(waiting, "call")}${since}, ${bytes(waitingBytes)}`,
    ],
    ...setAside.map(({ at, code, message }) => [
      "set aside",
      `${at.toISOString()} ${code}: ${message}`,
    ]),
  ];
}
