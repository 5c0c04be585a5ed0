// Run it with `node layers.ts`: it needs no server.
import { apiKeys, createHandler, memoryStorage } from "@petstore/service";
import { type Layer, withFields } from "@petstore/service/kit";
import {
  createDrain,
  createMetrics,
  createRateLimit,
  logLayer,
  probes,
} from "@petstore/service/layers";

const limit = createRateLimit({ requests: 2, seconds: 10 });
const drain = createDrain();
const metrics = createMetrics();
const storage = metrics.watch(memoryStorage());
const named: Layer = (service) => async (...request) =>
  withFields(await service(...request), { server: "petstore" });

const handle = createHandler({
  storage,
  keys: apiKeys(["secret"]),
  rateLimit: limit.byKey,
  layers: [named, logLayer(), metrics.layer, drain.layer, limit.byAddress],
  endpoints: [...probes(storage), metrics.endpoint],
  onError() {}, // the log has the causes
});

async function show(path: string): Promise<string> {
  const headers = { authorization: "Bearer secret", "x-request-id": "7" };
  const response = await handle(
    new Request(`http://localhost${path}`, { headers }),
  );
  const wait = response.headers.get("retry-after");
  console.log(response.status, wait, response.headers.get("server"));
  return await response.text();
}

for (let i = 0; i < 3; i++) await show("/v1/pets");
await show("/readyz");
await drain.drain();
await show("/v1/pets");
const text = await show("/metrics");
console.log(text.match(/_count\{.*"429"\} .*/)?.[0]);
