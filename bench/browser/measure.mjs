// Runs in a worker: one candidate through the same work. A candidate is
// {open(name), insert(key, text), batch(rows), get(key), close()}; open is timed too.

const TEXT = "a fact that an agent keeps about somebody, in a sentence of usual length";
const LARGE = "x".repeat(8000);

export function serve(candidate) {
  globalThis.onmessage = async ({ data: { name, counts } }) => {
    try {
      globalThis.postMessage({ timings: await measure(candidate, name, counts) });
    } catch (error) {
      globalThis.postMessage({ error: `${error?.name}: ${error?.message}` });
    }
  };
}

async function measure(candidate, name, { inserts, batch, large, reads }) {
  const timings = {};
  const time = async (operation, count, body) => {
    const start = performance.now();
    await body();
    timings[operation] = { count, ms: performance.now() - start };
  };
  // What is loaded once per page is not part of opening.
  await candidate.load?.();
  await time("open a new database", 1, () => candidate.open(name));
  await candidate.insert("warm", TEXT);
  await time("single-row transactions", inserts, async () => {
    for (let i = 0; i < inserts; i++) await candidate.insert(`key ${i}`, TEXT);
  });
  await time("rows in one transaction", batch, () =>
    candidate.batch(Array.from({ length: batch }, (_, i) => [`batch ${i}`, TEXT])),
  );
  await time("8 KB transactions", large, async () => {
    for (let i = 0; i < large; i++) await candidate.insert(`large ${i}`, LARGE);
  });
  await time("point reads", reads, async () => {
    for (let i = 0; i < reads; i++) await candidate.get(`key ${i % inserts}`);
  });
  // By now the browser has compiled what such a transaction needs, and made it fast.
  await time("single-row transactions, later", inserts, async () => {
    for (let i = 0; i < inserts; i++) await candidate.insert(`later ${i}`, TEXT);
  });
  await candidate.close();
  await time("open it again", 1, async () => {
    await candidate.open(name);
    await candidate.get("key 1");
  });
  await candidate.close();
  return timings;
}
