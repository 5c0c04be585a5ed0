/** Bytes meant to confuse, on every runtime there is. */
import { hostileBytesContract } from "../../contract/hostile_bytes_contract.ts";
import { onEveryRuntime } from "../../support/servers/start.ts";

onEveryRuntime("bytes meant to confuse", hostileBytesContract);
