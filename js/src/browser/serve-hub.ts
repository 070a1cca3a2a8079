// Makes a hub where its page asks for one: in a worker, or in the page's thread.

import { Hub, type PagePort } from "./hub.js";
import { adoptModule } from "./module.js";
import type { HubToPage, PageToHub } from "./protocol.js";

/** @internal */
export function serveHub(page: PagePort & Pick<MessagePort, "onmessage">): void {
  let hub: Hub | undefined;
  page.onmessage = ({ data }) => {
    const message = data as PageToHub;
    if (message.type === "start") {
      adoptModule(message.settings.wasm, message.shared);
      hub = new Hub(message.settings, page);
      void showLife(message.life, page);
    } else hub?.hearPage(message);
  };
}

// The browser gives the lock to the page when this worker is gone, whatever ended it.
async function showLife(life: string | undefined, page: PagePort): Promise<void> {
  const started = (isAlive: boolean) =>
    page.postMessage({ type: "started", isAlive } satisfies HubToPage);
  if (life === undefined || navigator.locks === undefined) return started(false);
  const forever = () => {
    started(true);
    return new Promise(() => {});
  };
  // Where locks are refused, whoever asks for something is told so.
  await navigator.locks.request(life, forever).catch(() => started(false));
}
