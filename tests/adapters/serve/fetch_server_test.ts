import {
  type Serve,
  testFetchServer,
} from "../../contract/fetch_server_contract.ts";

const runtime = "Deno" in globalThis
  ? "deno"
  : "Bun" in globalThis
  ? "bun"
  : "node";
const { serve }: { serve: Serve } = await import(
  `../../../adapters/${runtime}/mod.ts`
);

testFetchServer(runtime, serve);
