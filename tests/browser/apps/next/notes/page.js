// A server component over a file, an action that writes to it, and beside them a client component
// over the browser's own memory.

import { openNotes } from "../memory.js";
import { save } from "./actions.js";
import { Drafts } from "./drafts.js";

export const dynamic = "force-dynamic";

export default async function Notes() {
  const memory = await openNotes();
  const notes = await memory.store.search(["notes"]);
  await memory.close();
  return (
    <main>
      <ul id="notes">
        {notes.map(({ key, value }) => (
          <li key={key}>{value.text}</li>
        ))}
      </ul>
      <form action={save}>
        <input name="text" aria-label="Note" />
        <button type="submit">Save</button>
      </form>
      <Drafts />
    </main>
  );
}
