import { loadServe } from "../../../adapters/standalone/start.ts";
import { testFetchServer } from "../../contract/fetch_server_contract.ts";
import { RUNTIME } from "../../support/runtime.ts";

testFetchServer(RUNTIME, await loadServe());
