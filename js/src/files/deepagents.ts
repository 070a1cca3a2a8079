// Files as deepagents' `BackendProtocolV2`: what it would throw is told in `error`, in its words.

import { isBytes } from "../bytes.js";
import { checkEach, checkList, checkNumber, checkText, show } from "../checks.js";
import { invalid, KeepsakeError } from "../errors.js";
import type { Masked } from "../store/secrets.js";
import { lineWithoutHidden, splitAt } from "../text.js";
import { bytesOf, contentOf, occurrencesOf } from "./content.js";
import { type FileHome, type FileInfo, Files } from "./files.js";
import { partsOf, pathOf } from "./paths.js";
import { type FilesToolOptions, toolOf } from "./tool-options.js";

/** An entry of a listing. */
export interface BackendFile {
  path: string;
  is_dir: boolean;
  size: number;
  modified_at: string;
}

/** What was asked for, or why not. */
export type OrError<T> = Partial<T> & { error?: string };

/** A file that was written. */
export interface Written {
  path: string;
  filesUpdate: null;
  /**
   * What was masked in it, if anything, and whether a policy keeps it in quarantine, where nobody
   * reads it. deepagents hands it on with the message of its tool.
   */
  metadata?: { masked?: string[]; quarantined?: true };
}

type FileError = "file_not_found" | "permission_denied" | "is_directory" | "invalid_path";

/** A backend of deepagents: `createDeepAgent({ backend: filesBackend(memory) })`. */
export interface FilesBackend {
  ls(path: string): Promise<OrError<{ files: BackendFile[] }>>;
  read(
    path: string,
    offset?: number,
    limit?: number,
  ): Promise<
    OrError<{
      content: string | Uint8Array;
      mimeType: string;
      totalLines: number;
      startLine: number;
      endLine: number;
      nextOffset: number;
    }>
  >;
  readRaw(path: string): Promise<
    OrError<{
      data: {
        content: string | Uint8Array;
        mimeType: string;
        created_at: string;
        modified_at: string;
      };
    }>
  >;
  write(path: string, content: string): Promise<OrError<Written>>;
  edit(
    path: string,
    oldString: string,
    newString: string,
    replaceAll?: boolean,
  ): Promise<OrError<Written & { occurrences: number }>>;
  grep(
    pattern: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | null,
  ): Promise<
    OrError<{ matches: { path: string; line: number; text: string }[]; truncated: boolean }>
  >;
  glob(pattern: string, path?: string): Promise<OrError<{ files: BackendFile[] }>>;
  delete(path: string): Promise<OrError<{ path: string; filesUpdate: null }>>;
  uploadFiles(files: [string, Uint8Array][]): Promise<{ path: string; error: FileError | null }[]>;
  downloadFiles(
    paths: string[],
  ): Promise<{ path: string; content: Uint8Array | null; error: FileError | null }[]>;
}

const LINES = 500;

/** The files of a store as a backend of deepagents, which needs no sandbox. */
export function filesBackend(home: FileHome, options?: FilesToolOptions): FilesBackend {
  const { options: own, guardPath, guard } = toolOf("filesBackend", options);
  const files = new Files(home, own);
  const written = async (path: string, { masked }: Masked<string>): Promise<Written> => {
    const metadata: Written["metadata"] = masked.length > 0 ? { masked } : {};
    if ((await files.find(path)) === undefined) metadata.quarantined = true;
    const isEmpty = Object.keys(metadata).length === 0;
    return { path, filesUpdate: null, ...(!isEmpty && { metadata }) };
  };
  const missing = (path: string) => `File '${path}' not found`;
  return {
    ls: (path) =>
      told(async () => ({
        files: (await files.ls(path)).map((entry) =>
          entry.isDirectory ? directoryOf(entry.path) : fileOf(entry),
        ),
      })),
    read: (path, offset = 0, limit = LINES) =>
      told(async () => {
        const file = await files.find(path);
        if (file === undefined) return { error: missing(path) };
        const { content, type: mimeType } = file;
        if (typeof content !== "string") return { content, mimeType };
        const page = await files.read(path, {
          offset: Math.max(checkNumber("offset", offset), 0),
          limit,
        });
        const { totalLines, startLine, endLine, nextOffset } = page;
        const lines = { totalLines, startLine, endLine, nextOffset };
        const shown = (page.content as string).split("\n").map(lineWithoutHidden).join("\n");
        return { content: shown, mimeType, ...given(lines) };
      }),
    readRaw: (path) =>
      told(async () => {
        const file = await files.find(path);
        if (file === undefined) return { error: missing(path) };
        const { content, type: mimeType, createdAt, updatedAt } = file;
        const times = {
          created_at: createdAt.toISOString(),
          modified_at: updatedAt.toISOString(),
        };
        return { data: { content, mimeType, ...times } };
      }),
    write: (path, content) =>
      told(async () => {
        guardPath(path);
        const said = guard(content);
        await files.write(path, said.value);
        return written(path, said);
      }),
    edit: (path, oldString, newString, replaceAll = false) =>
      told(async () => {
        let occurrences = 0;
        checkText("oldString", oldString);
        const said = guard(checkText("newString", newString));
        const refusal = await replaced(files, path, (text) => {
          occurrences = oldString === "" ? 0 : occurrencesOf(text, oldString);
          if (text === "" && oldString === "") return { text: said.value };
          return replacement(text, oldString, said.value, replaceAll, occurrences);
        });
        if (refusal !== undefined) return { error: refusal };
        return { ...(await written(path, said)), occurrences };
      }),
    grep: (pattern, path, glob, maxCount) =>
      told(async () => {
        const { matches, truncated } = await files.grep(pattern, {
          path: path ?? "/",
          glob: glob ?? undefined,
          maxCount: maxCount ?? undefined,
        });
        const shown = matches.map((each) => ({ ...each, text: lineWithoutHidden(each.text) }));
        return { matches: shown, truncated };
      }),
    glob: (pattern, path) =>
      told(async () => ({ files: (await files.glob(pattern, path ?? "/")).map(fileOf) })),
    delete: (path) =>
      told(async () => {
        try {
          await files.delete(path);
        } catch (error) {
          if (isMissing(error)) return { error: `Error: ${missing(path)}` };
          throw error;
        }
        return { path, filesUpdate: null };
      }),
    uploadFiles: async (given) =>
      Promise.all(
        checkEach("files", given, checkUpload).map(async ([path, bytes]) => ({
          path,
          error: await failureOf(() => files.write(path, contentOf(path, bytes))),
        })),
      ),
    downloadFiles: async (paths) =>
      Promise.all(
        checkEach("paths", paths, (path) => checkText("a path", path)).map(async (path) => {
          const found = await files.find(path).catch(() => undefined);
          if (found !== undefined) return { path, content: bytesOf(found.content), error: null };
          const isDirectory = await files.isDirectory(path).catch(() => false);
          return { path, content: null, error: isDirectory ? "is_directory" : "file_not_found" };
        }),
      ),
  };
}

function checkUpload(file: [string, Uint8Array]): [string, Uint8Array] {
  const [path, bytes] = checkList("a file to upload", file);
  if (!isBytes(bytes)) throw invalid(`a file to upload must be [path, bytes]: ${show(bytes)}`);
  return [checkText("a path", path), bytes];
}

type Replacement = { text: string } | { refusal: string };

function replacement(
  text: string,
  oldString: string,
  newString: string,
  replaceAll: boolean,
  occurrences: number,
): Replacement {
  if (oldString === "") {
    return { refusal: "Error: oldString cannot be empty when file has content" };
  }
  if (occurrences === 0) return { refusal: `Error: String not found in file: '${oldString}'` };
  if (occurrences > 1 && !replaceAll) {
    return {
      refusal: `Error: String '${oldString}' has multiple occurrences (appears ${occurrences} times) in file. Use replace_all=True to replace all instances, or provide a more specific string with surrounding context.`,
    };
  }
  return { text: splitAt(text, oldString).join(newString) };
}

// Answers why nothing was replaced.
async function replaced(
  files: Files,
  path: string,
  change: (text: string) => Replacement,
): Promise<string | undefined> {
  let refusal: string | undefined;
  try {
    await files.update(path, (text) => {
      const made = change(text);
      if ("text" in made) return made.text;
      refusal = made.refusal;
      return text;
    });
  } catch (error) {
    if (isMissing(error)) return `Error: File '${path}' not found`;
    throw error;
  }
  return refusal;
}

async function told<T extends object>(ask: () => Promise<T>): Promise<T | { error: string }> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof KeepsakeError)) throw error;
    return { error: `Error: ${error.message}` };
  }
}

async function failureOf(write: () => Promise<void>): Promise<FileError | null> {
  try {
    await write();
    return null;
  } catch (error) {
    if (!(error instanceof KeepsakeError)) throw error;
    if (error.code === "already_exists") return "is_directory";
    return error.code === "access_denied" ? "permission_denied" : "invalid_path";
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof KeepsakeError && error.code === "not_found";
}

// Without what is undefined.
function given<T extends object>(fields: T): { [Key in keyof T]: NonNullable<T[Key]> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Key in keyof T]: NonNullable<T[Key]> };
}

function directoryOf(path: string): BackendFile {
  return { path: `${pathOf(partsOf(path))}/`, is_dir: true, size: 0, modified_at: "" };
}

function fileOf({ path, size, updatedAt }: FileInfo): BackendFile {
  return { path, is_dir: false, size, modified_at: updatedAt.toISOString() };
}
