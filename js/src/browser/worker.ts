// The package's one worker file: the hub of a page, and, as a SharedWorker, the broker.

import { Broker } from "./broker.js";
import { serveHub } from "./serve-hub.js";

interface SharedWorkerScope {
  onconnect: (event: MessageEvent) => void;
}

if ("onconnect" in globalThis) {
  const broker = new Broker();
  (globalThis as unknown as SharedWorkerScope).onconnect = ({ ports }) => {
    if (ports[0] !== undefined) broker.add(ports[0]);
  };
} else {
  serveHub(globalThis as unknown as MessagePort);
}
