// Run it with `node rate_limit.ts`: it needs no server.
import { apiKeys, createHandler, memoryStorage } from "@petstore/service";

const [requests, seconds] = [2, 10];
const windows = new Map<string, { readonly end: number; count: number }>();

const handle = createHandler({
  storage: memoryStorage(),
  keys: apiKeys(["secret"]),
  rateLimit(key) {
    const now = Date.now();
    let window = windows.get(key);
    if (window === undefined || now >= window.end) {
      window = { end: now + 1000 * seconds, count: 0 };
      windows.set(key, window);
    }
    const wait = String(Math.ceil((window.end - now) / 1000));
    const allowed = ++window.count <= requests;
    return { allowed, headers: allowed ? {} : { "retry-after": wait } };
  },
});

for (let i = 0; i < 3; i++) {
  const headers = { authorization: "Bearer secret" };
  const url = "http://localhost/v1/pets";
  const response = await handle(new Request(url, { headers }));
  console.log(response.status, response.headers.get("retry-after"));
}
