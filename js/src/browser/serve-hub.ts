// Makes a hub where its page asks for one: in a worker, or in the page's thread. A worker whose
// hub has closed may be asked for the next one.

import { Hub, type PagePort } from "./hub.js";
import { adoptModule } from "./module.js";
import type { HubToPage, PageToHub } from "./protocol.js";

/** @internal */
export function serveHub(page: PagePort & Pick<MessagePort, "onmessage">): void {
  let hub: Hub | undefined;
  let leave = () => {};
  page.onmessage = ({ data }) => {
    const message = data as PageToHub;
    if (message.type === "start") {
      adoptModule(message.settings.wasm, message.shared);
      hub = new Hub(message.settings, page);
      leave();
      const left = new Promise<void>((resolve) => {
        leave = resolve;
      });
      void showLife(message.life, left, page);
    } else hub?.hearPage(message);
  };
}

// The browser gives the lock to the page when this worker is gone, whatever ended it.
async function showLife(
  life: string | undefined,
  left: Promise<void>,
  page: PagePort,
): Promise<void> {
  const started = (isAlive: boolean) =>
    page.postMessage({ type: "started", isAlive } satisfies HubToPage);
  if (life === undefined || navigator.locks === undefined) return started(false);
  const untilLeft = () => {
    started(true);
    return left;
  };
  // Where locks are refused, whoever asks for something is told so.
  await navigator.locks.request(life, untilLeft).catch(() => started(false));
}
