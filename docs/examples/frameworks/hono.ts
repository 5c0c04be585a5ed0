// Run it with `node hono.ts`, after `npm install hono @hono/node-server`. As hono.mts, it needs no
// `"type": "module"` in package.json, where `npm init -y` writes "commonjs".
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { apiKeys, createHandler, memoryStorage } from "@petstore/service";

const keys = apiKeys(["secret"]);
const handle = createHandler({ storage: memoryStorage(), keys });

const app = new Hono();
app.all("/v1/*", (context) => handle(context.req.raw));
serve({ fetch: app.fetch, port: 8000, hostname: "127.0.0.1" });
