// Keeps the page's own files, so that it opens without the server too. VERSION and FILES
// are put in by the build.

const cacheName = `keepsake-demo-${VERSION}`;

addEventListener("install", (event) => {
  event.waitUntil(keepFiles());
});

addEventListener("activate", (event) => {
  event.waitUntil(takeOver());
});

addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin) return;
  if (request.mode === "navigate") event.respondWith(fromServerFirst(request));
  else if (FILES.includes(pathname)) event.respondWith(fromCacheFirst(request));
});

async function keepFiles() {
  const cache = await caches.open(cacheName);
  await cache.addAll(FILES);
  await skipWaiting();
}

async function takeOver() {
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith("keepsake-demo-") && name !== cacheName);
  await Promise.all(old.map((name) => caches.delete(name)));
  await clients.claim();
}

// A new build is seen at once.
async function fromServerFirst(request) {
  try {
    return await fetch(request);
  } catch (error) {
    const kept = await caches.match("/");
    if (kept) return kept;
    throw error;
  }
}

async function fromCacheFirst(request) {
  return (await caches.match(request, { ignoreSearch: true })) ?? fetch(request);
}
