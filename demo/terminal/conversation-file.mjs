// A conversation from a file.
import { readFile } from "node:fs/promises";
import { ConversationError, readConversation } from "../conversation.mjs";

export async function loadConversation(path, { conversation } = {}) {
  return readConversation(await contents(path), { source: path, conversation });
}

async function contents(path) {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    const reason =
      {
        ENOENT: "there is no such file",
        EISDIR: "it is a folder",
        EACCES: "reading is not allowed",
      }[cause.code] ?? cause.message;
    throw new ConversationError(`cannot read ${path}: ${reason}`, { cause });
  }
}
