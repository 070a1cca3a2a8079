export {
  type AnthropicMemory,
  anthropicMemory,
  type MemoryCommand,
} from "./files/anthropic.js";
export {
  type BackendFile,
  type FilesBackend,
  filesBackend,
  type OrError,
  type Written,
} from "./files/deepagents.js";
export {
  type DirectoryEntry,
  type FileHit,
  type FileHome,
  type FileInfo,
  type FileMatch,
  Files,
  type FilesOptions,
  type GrepOptions,
  type ReadOptions,
  type SearchFilesOptions,
  type StoredFile,
} from "./files/files.js";
export type { FilesToolOptions } from "./files/tool-options.js";
