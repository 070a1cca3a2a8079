// How hubs reach each other, in this process: what a port and the channel carry when a
// follower gives one up for the other.

import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { MessageChannel } from "node:worker_threads";
import { build } from "esbuild";
import { temporaryFolder } from "../js/support/temporary.mjs";
import { cleanUp } from "./support/clean-up.mjs";

const JOB = { kind: "takeBack", name: "x" };
const open = [];
let Broker;
let HubLink;

beforeAll(async () => {
  const outdir = temporaryFolder();
  await build({
    entryPoints: ["js/src/browser/hub-link.ts", "js/src/browser/broker.ts"],
    outdir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    format: "esm",
  });
  ({ HubLink } = await import(join(outdir, "hub-link.mjs")));
  ({ Broker } = await import(join(outdir, "broker.mjs")));
});

afterEach(() => {
  for (const one of open.splice(0)) one.close();
});

afterAll(cleanUp);

function newLink(broker, hear) {
  const transport = new HubLink("transport test", hear, () => {});
  const { port1, port2 } = new MessageChannel();
  broker.add(port1);
  transport.join(port2);
  open.push(transport, port1);
  return transport;
}

async function until(isTrue) {
  while (!isTrue()) await sleep(1);
}

/** A follower that has a port to the owner, which answers each job after `delay` ms. */
async function connected(delay = 0) {
  const broker = new Broker();
  const answers = [];
  const ways = [];
  const owner = newLink(broker, async (message, port) => {
    if (message.type !== "job") return;
    ways.push(port === undefined ? "channel" : "port");
    await sleep(delay);
    owner.reply(port, { type: "done", to: message.from, epoch: 1, number: message.number });
  });
  const follower = newLink(broker, (message) => {
    if (message.type !== "done") return;
    answers.push(message.number);
    follower.answered(message.number);
  });
  owner.meet(undefined);
  await sleep(10);
  follower.meet(owner.hub);
  await until(() => follower.kind === "port");
  const send = (number) => follower.send({ type: "job", epoch: 1, number, job: JOB });
  return { owner, follower, answers, ways, send };
}

test("a job goes over the port once there is one", async () => {
  const { answers, ways, send } = await connected();
  send(1);
  await until(() => answers.length === 1);
  expect(ways).toEqual(["port"]);
});

test("a job that is sent again over the channel is answered there, not through the port that was given up", async () => {
  const { owner, follower, answers, ways, send } = await connected();
  follower.meet(owner.hub);
  send(1);
  await until(() => answers.length === 1);
  expect({ answers, ways }).toEqual({ answers: [1], ways: ["channel"] });
});

test("jobs for a new port wait for the answers to those that went over the channel", async () => {
  const { owner, follower, answers, ways, send } = await connected(50);
  follower.meet(owner.hub);
  send(1);
  await until(() => follower.kind === "port");
  send(2);
  send(3);
  await until(() => answers.length === 3);
  expect({ answers, ways }).toEqual({ answers: [1, 2, 3], ways: ["channel", "port", "port"] });
});
