// Runs the worker beside this folder in Vercel's edge-runtime: web globals, and nothing of Node.
import { EdgeRuntime } from "edge-runtime";
import { buildSync } from "esbuild";
import { serve } from "../../../adapters/node/mod.ts";

const { outputFiles } = buildSync({
  absWorkingDir: import.meta.dirname,
  entryPoints: ["../../../docs/examples/worker.ts"],
  globalName: "worker",
  bundle: true,
  write: false,
});
const runtime = new EdgeRuntime({ initialCode: outputFiles[0].text });
const worker = runtime.evaluate("worker.default");

await serve(async (request) => {
  const { url, method } = request;
  const headers = [...request.headers];
  const bytes = await request.arrayBuffer();
  const body = bytes.byteLength > 0 ? bytes : null;
  const { Request } = runtime.context;
  return worker.fetch(new Request(url, { method, headers, body }));
}, { port: 8000 });
