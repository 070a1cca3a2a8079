// Azure's own emulator of Blob Storage, with a container in it.

import { createHmac } from "node:crypto";
import { found, start } from "./processes.mjs";
import { temporaryFolder } from "./temporary.mjs";

const PROGRAM = "../../../node_modules/azurite/dist/src/blob/main.js";
const ACCOUNT = "keepsake";
const KEY = Buffer.alloc(32, 7).toString("base64");
const VERSION = "2021-12-02";
const UNTIL = new Date(Date.now() + 3_600_000).toISOString().replace(/\.\d+Z/, "Z");

const sign = (...fields) =>
  createHmac("sha256", Buffer.from(KEY, "base64")).update(fields.join("\n")).digest("base64");

function accountSas() {
  const [permissions, services, types] = ["rwdlc", "b", "sco"];
  const sig = sign(ACCOUNT, permissions, services, types, "", UNTIL, "", "", VERSION, "", "");
  const sas = { sv: VERSION, ss: services, srt: types, sp: permissions, se: UNTIL, sig };
  return new URLSearchParams(sas).toString();
}

function containerSas(container, permissions, until) {
  const resource = `/blob/${ACCOUNT}/${container}`;
  const sig = sign(
    ...[permissions, "", until, resource, "", "", "", VERSION, "c", "", "", "", "", "", "", ""],
  );
  const sas = { sv: VERSION, sr: "c", sp: permissions, se: until, sig };
  return new URLSearchParams(sas).toString();
}

/** Its containers' addresses, and signatures for them; killAll() ends it. */
export async function startAzurite() {
  const options = ["--inMemoryPersistence", "--blobPort", "0", "--silent", "--disableTelemetry"];
  const child = start(PROGRAM, options, {
    cwd: temporaryFolder(),
    env: { AZURITE_ACCOUNTS: `${ACCOUNT}:${KEY}` },
  });
  const url = await found(child, /listens on (http:\S+)/);
  const at = (container) => `${url}/${ACCOUNT}/${container}`;
  const { status } = await fetch(`${at("agents")}?restype=container&${accountSas()}`, {
    method: "PUT",
    headers: { "x-ms-version": VERSION },
  });
  if (status !== 201) throw new Error(`Azurite made no container: ${status}`);
  return {
    at,
    sas: (container = "agents", { permissions = "rcwdl", until = UNTIL } = {}) =>
      containerSas(container, permissions, until),
  };
}
