"use server";

import { revalidatePath } from "next/cache";
import { openNotes } from "../memory.js";

export async function save(form) {
  const memory = await openNotes();
  await memory.store.put(["notes"], crypto.randomUUID(), { text: form.get("text") });
  await memory.close();
  revalidatePath("/notes");
}
