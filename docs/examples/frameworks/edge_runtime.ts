// Runs next.ts, in the same folder, in Vercel's edge-runtime, which has web globals and nothing of Node's.
// Run it with `node edge_runtime.ts`, after `npm install edge-runtime esbuild srvx`.
import { EdgeRuntime } from "edge-runtime";
import { buildSync } from "esbuild";
import { serve } from "srvx";

const { outputFiles } = buildSync({
  absWorkingDir: import.meta.dirname,
  entryPoints: ["next.ts"],
  globalName: "routes",
  bundle: true,
  write: false,
});
const runtime = new EdgeRuntime({ initialCode: outputFiles[0].text });
const routes = runtime.evaluate("routes");

async function fetch(request: Request): Promise<Response> {
  const { url, method } = request;
  const headers = [...request.headers];
  const bytes = await request.arrayBuffer();
  const body = bytes.byteLength > 0 ? bytes : null;
  const { Request } = runtime.context;
  return routes[method](new Request(url, { method, headers, body }));
}

serve({ fetch, port: 8000, hostname: "127.0.0.1" });
