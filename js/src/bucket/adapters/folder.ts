// A folder of files, in Node, Deno and Bun: for one machine, a network drive, and tests.

import type * as FileSystem from "node:fs/promises";
import { checkOptions, type NamesOf, show } from "../../checks.js";
import { invalid, KeepsakeError, messageOf } from "../../errors.js";
import { Bucket } from "../bucket.js";
import { refused, unreachable } from "../guard.js";
import type { ByteRange, ListRange } from "../port.js";

/** How a folder is used. */
export interface FolderOptions {
  /** A folder within it that all is below, such as `agents/ada`. @default none */
  prefix?: string | undefined;
}

const FOLDER_OPTIONS: NamesOf<FolderOptions> = { prefix: 1 };

// Names on disk. A file system may not tell "A" from "a", some names are taken on Windows, and a
// key may begin another: so capitals are written "!a", and each name has an end of its own.
const FILE_END = "=";
const FOLDER_END = "+";
// Without an end, it is no key's. What is being written lies there.
const UNFINISHED = "unfinished";
// No write takes so long. A writer that stood still for that time writes again.
const ABANDONED_MS = 10 * 60 * 1000;
const TIDY_EVERY_MS = 60 * 1000;

// Rights, a disk that may only be read, and what is no folder.
const LASTING = ["EACCES", "EPERM", "EROFS", "ENOTDIR", "ELOOP"];
const FOLDER_TRIES = 5;
const NO_LINKS = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK", "EXDEV"];

/**
 * A folder that is there already. Its file system must know hard links, as those of Linux, macOS and
 * Windows and most network drives do; exFAT and FAT do not. It is not for a folder that Dropbox,
 * iCloud or the like keeps in step: they bring what two devices created side by side, later.
 */
export function folder(path: string, options?: FolderOptions): Bucket {
  const { prefix } = checkOptions("folder", FOLDER_OPTIONS, options);
  if (typeof path !== "string" || path === "" || path.includes("\0")) {
    throw invalid(`folder takes the path of a folder: ${show(path)}`);
  }
  return new Bucket(new FolderPort(path), `the folder ${path}`, prefix);
}

class FolderPort {
  readonly #root: string;
  readonly #place: string;
  #fs: Promise<typeof FileSystem> | undefined;
  #tidied: Promise<void> | undefined;
  #tidiedAt = 0;

  constructor(path: string) {
    this.#root = path.replace(/(?<=.)[\\/]$/, "");
    this.#place = `the folder ${path}`;
  }

  async get(key: string, range?: ByteRange): Promise<Uint8Array | undefined> {
    const fs = await this.#files();
    let file: FileSystem.FileHandle | undefined;
    try {
      file = await fs.open(this.#pathOf(key), "r");
      const { size } = await file.stat();
      const from = Math.min(range?.from ?? 0, size);
      const bytes = new Uint8Array(Math.min(range?.to ?? size, size) - from);
      let done = 0;
      while (done < bytes.length) {
        const rest = bytes.length - done;
        const { bytesRead } = await file.read(bytes, done, rest, from + done);
        if (bytesRead === 0) throw new Error("a file is shorter than its size");
        done += bytesRead;
      }
      return bytes;
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw this.#failure(error);
      await this.#checkRoot(fs);
      return undefined;
    } finally {
      await file?.close().catch(noop);
    }
  }

  // Written whole under another name and given its own by link(), which fails if that is taken. So
  // nobody ever reads a half, and what a crash leaves is no object.
  async create(key: string, bytes: Uint8Array): Promise<boolean> {
    const fs = await this.#files();
    const unfinished = `${this.#root}/${UNFINISHED}/${globalThis.crypto.randomUUID()}`;
    try {
      await this.#checkRoot(fs);
      this.#tidied ??= this.#tidy(fs);
      await this.#tidied;
      const path = this.#pathOf(key);
      const file = await fs.open(unfinished, "wx");
      try {
        await file.writeFile(bytes);
        await file.sync();
      } finally {
        await file.close();
      }
      const isNew = await this.#link(fs, unfinished, path);
      if (isNew) await this.#syncFolder(fs, parentOf(path));
      return isNew;
    } catch (error) {
      // Somebody may have deleted the folder of unfinished files: the next call makes it anew.
      this.#tidied = undefined;
      throw this.#failure(error);
    } finally {
      await fs.unlink(unfinished).catch(noop);
    }
  }

  async #link(
    fs: typeof FileSystem,
    unfinished: string,
    path: string,
    tries = FOLDER_TRIES,
  ): Promise<boolean> {
    try {
      await this.#makeFolders(fs, path);
      await fs.link(unfinished, path);
      return true;
    } catch (error) {
      // Whoever deletes the last file of a folder removes the folder, too.
      if (codeOf(error) === "ENOENT" && tries > 1) {
        return this.#link(fs, unfinished, path, tries - 1);
      }
      // A network drive that is asked twice says that the name is taken, by the first time.
      const { nlink } = await fs.stat(unfinished);
      if (nlink > 1) return true;
      const code = codeOf(error);
      if (code === "EEXIST") return false;
      if (!NO_LINKS.includes(code)) throw error;
      throw refused(
        this.#place,
        `files can't be linked there (${code}), without which none is created whole or not at all: take a folder on one disk that knows hard links, which exFAT and FAT do not`,
        error,
      );
    }
  }

  async list(begin: string, { after = "", limit }: ListRange = {}): Promise<string[]> {
    const fs = await this.#files();
    const keys: string[] = [];
    const within = begin.slice(0, begin.lastIndexOf("/") + 1);
    const visit = async (above: string): Promise<void> => {
      for (const entry of await entriesOf(fs, this.#folderOf(above))) {
        const name = decoded(entry.name.slice(0, -1));
        if (name === undefined) continue;
        const end = entry.name.at(-1);
        const key = above + name;
        if (end === FOLDER_END && entry.isDirectory()) await visit(`${key}/`);
        else if (end === FILE_END && entry.isFile() && key.startsWith(begin) && key > after) {
          keys.push(key);
        }
      }
    };
    try {
      await visit(within);
      if (keys.length === 0) await this.#checkRoot(fs);
    } catch (error) {
      throw this.#failure(error);
    }
    return keys.sort((a, b) => (a < b ? -1 : 1)).slice(0, limit);
  }

  async delete(key: string): Promise<void> {
    const fs = await this.#files();
    const path = this.#pathOf(key);
    try {
      await this.#removeOtherNames(fs, path);
      await fs.unlink(path);
      if (Date.now() - this.#tidiedAt > TIDY_EVERY_MS) await this.#tidy(fs);
      // Of which the first that is not empty, or that somebody else removes, stays.
      for (let at = parentOf(path); at.length > this.#root.length; at = parentOf(at)) {
        const isRemoved = await fs.rmdir(at).then(
          () => true,
          () => false,
        );
        if (!isRemoved) break;
      }
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw this.#failure(error);
      await this.#checkRoot(fs);
    }
  }

  // A drive that is not there must not look like an empty one.
  async #checkRoot(fs: typeof FileSystem): Promise<void> {
    const found = await fs.stat(this.#root).catch((error: unknown) => {
      if (codeOf(error) === "ENOENT") return undefined;
      throw this.#failure(error);
    });
    if (found?.isDirectory()) return;
    throw refused(this.#place, "there is no such folder: make it, or connect the drive it is on");
  }

  // A writer that crashed as soon as the file had its name left the first one, too.
  async #removeOtherNames(fs: typeof FileSystem, path: string): Promise<void> {
    const { nlink, ino, dev } = await fs.stat(path, { bigint: true });
    if (nlink < 2n) return;
    const folder = `${this.#root}/${UNFINISHED}`;
    for (const { name } of await entriesOf(fs, folder)) {
      const other = `${folder}/${name}`;
      const found = await fs.stat(other, { bigint: true }).catch(noop);
      if (found?.ino === ino && found.dev === dev) await fs.unlink(other).catch(noop);
    }
  }

  /** What crashed writers left. */
  async #tidy(fs: typeof FileSystem): Promise<void> {
    this.#tidiedAt = Date.now();
    const folder = `${this.#root}/${UNFINISHED}`;
    await fs.mkdir(folder, { recursive: true });
    for (const name of await fs.readdir(folder)) {
      const path = `${folder}/${name}`;
      const found = await fs.stat(path).catch(noop);
      if (found && found.mtimeMs < Date.now() - ABANDONED_MS) await fs.unlink(path).catch(noop);
    }
  }

  /** Those of a path, which outlast a power cut as the file does. */
  async #makeFolders(fs: typeof FileSystem, path: string): Promise<void> {
    const folder = parentOf(path);
    const first = await fs.mkdir(folder, { recursive: true });
    if (first === undefined) return;
    for (let at = folder; at.length > this.#root.length; at = parentOf(at)) {
      await this.#syncFolder(fs, parentOf(at));
    }
  }

  // Windows opens no folder, and has nothing to sync there.
  async #syncFolder(fs: typeof FileSystem, path: string): Promise<void> {
    const folder = await fs.open(path, "r").catch((error: unknown) => {
      if (["EISDIR", "EPERM", "EACCES"].includes(codeOf(error))) return undefined;
      throw error;
    });
    try {
      await folder?.sync().catch((error: unknown) => {
        if (!["EPERM", "EINVAL", "EBADF", "ENOTSUP"].includes(codeOf(error))) throw error;
      });
    } finally {
      await folder?.close();
    }
  }

  #pathOf(key: string): string {
    const at = key.lastIndexOf("/") + 1;
    return `${this.#folderOf(key.slice(0, at))}/${encoded(key.slice(at))}${FILE_END}`;
  }

  #folderOf(above: string): string {
    const parts = above.split("/").slice(0, -1);
    return [this.#root, ...parts.map((part) => encoded(part) + FOLDER_END)].join("/");
  }

  #failure(error: unknown): KeepsakeError {
    if (error instanceof KeepsakeError) return error;
    if (codeOf(error) === "ENAMETOOLONG") {
      return refused(
        this.#place,
        "a name is longer than this file system takes, which is usually 255 bytes: take a shorter name of the memory, or a shorter prefix",
        error,
      );
    }
    return LASTING.includes(codeOf(error))
      ? refused(this.#place, messageOf(error), error)
      : unreachable(this.#place, messageOf(error), error);
  }

  #files(): Promise<typeof FileSystem> {
    this.#fs ??= loadFileSystem();
    return this.#fs;
  }
}

// None of a folder that is not there, or that somebody removes meanwhile.
async function entriesOf(fs: typeof FileSystem, path: string) {
  try {
    return await fs.readdir(path, { withFileTypes: true });
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}

function encoded(part: string): string {
  return part.replaceAll(/[A-Z]/g, (letter) => `!${letter.toLowerCase()}`);
}

function decoded(name: string): string | undefined {
  if (/^(?:[a-z0-9_.-]|![a-z])+$/.test(name) === false) return undefined;
  return name.replaceAll(/!([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | null)?.code ?? "");
}

function noop(): void {}

interface WithBuiltins {
  process?: { getBuiltinModule?: (name: string) => unknown };
  navigator?: { userAgent?: string };
}

// No bundler sees a name here: pages and Workers load this file, too.
async function loadFileSystem(): Promise<typeof FileSystem> {
  const name = "node:fs/promises";
  const { process, navigator } = globalThis as WithBuiltins;
  try {
    // A Worker's files are gone with its request.
    if (navigator?.userAgent === "Cloudflare-Workers") throw new Error("a Worker keeps no files");
    const found = process?.getBuiltinModule?.(name) as typeof FileSystem | undefined;
    // Before Node 20.16.
    return found ?? (await import(/* webpackIgnore: true */ /* @vite-ignore */ name));
  } catch (cause) {
    throw new KeepsakeError(
      "unsupported",
      "folder() needs the files of Node, Deno or Bun, which this runtime does not have: take another store",
      { cause },
    );
  }
}
