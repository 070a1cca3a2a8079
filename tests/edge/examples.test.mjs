// The example of a Worker runs as it stands.

import { bundleWorker } from "./support/bundle.mjs";
import { cleanUp, startWorkerd } from "./support/workerd.mjs";

afterAll(cleanUp);

test("an agent in an object learns of its user, and tells nobody else", async () => {
  const bundle = await bundleWorker("examples/worker/worker.ts");
  const { miniflare } = await startWorkerd("example", { classes: { AGENT: "Agent" }, bundle });
  const ask = async (path, body) => {
    const method = body === undefined ? "GET" : "POST";
    const response = await miniflare.dispatchFetch(`http://worker/users/${path}`, { method, body });
    return response.text();
  };
  expect(await ask("ada/threads/1", "Ada likes oolong tea.")).toBe("I know nothing of that.");
  // It learns in the background.
  let facts = "[]";
  while (facts === "[]") facts = await ask("ada/facts");
  expect(facts).toBe('["Ada likes oolong tea."]');
  const answer = await ask("ada/threads/2", "Which tea does Ada like?");
  expect(answer).toMatch(/^<memory>\n.*\n- Ada likes oolong tea\. \[from model\]\n<\/memory>$/);
  expect(await ask("bob/threads/1", "Which tea does Ada like?")).toBe("I know nothing of that.");
  expect(await ask("bob/facts")).toBe("[]");
  expect(await ask("ada")).toBe("not found\n");
});

test("at the edge it learns in R2, and a new copy of the function knows it", async () => {
  const bundle = await bundleWorker("examples/everywhere/edge.ts");
  const { miniflare } = await startWorkerd("everywhere", { buckets: ["MEMORIES"], bundle });
  const ask = async (path, body) => {
    const response = await miniflare.dispatchFetch(`http://worker/${path}`, {
      method: "POST",
      body,
    });
    return response.text();
  };
  expect(await ask("users/ada/threads/1", "Ada likes oolong tea.")).toBe("I know nothing of that.");
  expect(await ask("users/ada/threads/2", "Which tea does Ada like?")).toMatch(
    /- Ada likes oolong tea\. \[from model\]/,
  );
  expect(await ask("users/bob/threads/1", "Which tea does Ada like?")).toBe(
    "I know nothing of that.",
  );
  expect(await ask("nobody", "")).toBe("not found\n");
});
