// What a browser takes by itself for the parts of a call: messages, one write, handles. One
// file for a worker that owns files, for a worker of another tab, and, as a SharedWorker, for
// what hands the port of the second to the first.

const FOLDER = "floor";
// As many bytes as a put adds to the log: three pages with their headers.
const RECORD = new Uint8Array(3 * 4120);
const LOG_BYTES = 1 << 22;

if ("onconnect" in globalThis) {
  let owner;
  globalThis.onconnect = ({ ports: [port] }) => {
    port.onmessage = ({ data, ports }) => {
      if (data === "own") owner = port;
      else owner.postMessage(data, ports);
    };
  };
} else {
  serveFloor();
}

function serveFloor() {
  let handles = [];
  let at = 0;
  const work = {
    echo() {},
    async open(names) {
      handles = await Promise.all(names.map(openFile));
    },
    write() {
      handles[1].write(RECORD, { at });
      at = (at + RECORD.length) % LOG_BYTES;
    },
    close() {
      for (const handle of handles) handle.close();
    },
  };
  const serve = (port) => {
    port.onmessage = async ({ data: { kind, names }, ports }) => {
      if (kind === "serve") return serve(ports[0]);
      if (kind === "follow") return follow(ports[0]);
      const done = work[kind](names);
      if (done) await done;
      port.postMessage(kind);
    };
  };
  serve(globalThis);
}

/** From now on the messages of this tab go to the owner in another one, and back. */
function follow(owner) {
  owner.onmessage = ({ data }) => globalThis.postMessage(data);
  globalThis.onmessage = ({ data }) => owner.postMessage(data);
}

async function openFile(name) {
  const root = await navigator.storage.getDirectory();
  const folder = await root.getDirectoryHandle(FOLDER, { create: true });
  const file = await folder.getFileHandle(name, { create: true });
  return file.createSyncAccessHandle();
}
