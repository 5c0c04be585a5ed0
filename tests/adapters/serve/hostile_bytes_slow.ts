/** Bytes meant to confuse, on every runtime there is. */
import { hostileBytesContract } from "../../contract/register.ts";
import { onEveryRuntime } from "../../support/servers/start.ts";

onEveryRuntime("bytes meant to confuse", hostileBytesContract);
