// What the engine asks of a file: a subset of the web's FileSystemSyncAccessHandle,
// which can be used as it is.

/** @internal */
export interface EngineFile {
  /** Fills `into` from `at` on; fewer bytes than asked for only at the end of the file. */
  read(into: Uint8Array, options: { at: number }): number;
  write(from: Uint8Array, options: { at: number }): number;
  flush(): void;
  truncate(size: number): void;
  getSize(): number;
  close(): void;
  /** Whether nobody else has changed the file since it was opened. */
  check?(): boolean;
}

/** The files of a database by name: `x`, `x-wal` and `x-journal`. @internal */
export type EngineFiles = Map<string, EngineFile>;

/** Closes them all, whatever any of them says. @internal */
export function closeFiles(files: EngineFiles): void {
  for (const file of files.values()) {
    try {
      file.close();
    } catch {
      // There is nothing to be done about a file that can't be closed.
    }
  }
  files.clear();
}
