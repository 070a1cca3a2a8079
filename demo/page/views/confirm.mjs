// Asks before something is gone.
import { byId } from "../dom.mjs";

/** → true if the person agrees; `yes` is what the button says. */
export function confirmed({ title, text, yes }) {
  const dialog = byId("confirm");
  byId("confirm-title").textContent = title;
  byId("confirm-text").textContent = text;
  byId("confirm-yes").textContent = yes;
  dialog.returnValue = "cancel";
  dialog.showModal();
  return new Promise((resolve) => {
    const answer = () => resolve(dialog.returnValue === "confirm");
    dialog.addEventListener("close", answer, { once: true });
  });
}
