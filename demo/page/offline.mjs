// The page without a network: it says so, and its service worker keeps its files.
import { byId } from "./dom.mjs";

const NEEDS_NONE = "Offline. Everything goes on.";
const NEEDS_NETWORK =
  "Offline. The memory goes on; your model is out of reach, the scripted one is not.";

export function showWhetherOffline(settings) {
  const show = () => {
    byId("offline").hidden = navigator.onLine;
    byId("offline").textContent = settings.provider ? NEEDS_NETWORK : NEEDS_NONE;
  };
  for (const event of ["online", "offline"]) addEventListener(event, show);
  settings.addEventListener("change", show);
  show();
}

export async function keepPage() {
  await navigator.serviceWorker?.register("/service-worker.js", { updateViaCache: "none" });
}
