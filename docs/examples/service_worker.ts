// Make the worker with `npx -y esbuild service_worker.ts --bundle --outfile=worker.js`.
import { apiKeys, createHandler, memoryStorage } from "@petstore/service";

interface LifetimeEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}

interface FetchEvent extends Event {
  readonly request: Request;
  respondWith(response: Promise<Response>): void;
}

/** The docs page, fetched from the server when the browser installs this worker. */
const FILES = [
  "/docs",
  "/docs/page.css",
  "/docs/page.js",
  "/docs/components.js",
  "/docs/exact_json.js",
  "/docs/swagger-ui.css",
  "/docs/swagger-ui.js",
];

const keys = apiKeys(["secret"]);
const handle = createHandler({ storage: memoryStorage(), keys });

async function keepFiles(): Promise<void> {
  const cache = await caches.open("docs");
  for (const path of FILES) {
    const response = await fetch(path);
    if (!response.ok) throw new Error(`Cannot read ${path}`);
    await cache.put(path, response);
  }
}

async function readFile(request: Request): Promise<Response> {
  return await caches.match(request) ?? await fetch(request);
}

addEventListener("install", (event) => {
  (event as LifetimeEvent).waitUntil(keepFiles());
});

addEventListener("fetch", (event) => {
  const { request } = event as FetchEvent;
  const { origin, pathname } = new URL(request.url);
  if (origin !== location.origin) return;
  if (pathname.startsWith("/v1/")) {
    (event as FetchEvent).respondWith(handle(request));
  } else if (FILES.includes(pathname)) {
    (event as FetchEvent).respondWith(readFile(request));
  }
});
