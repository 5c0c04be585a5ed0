/** The HTTP contract, judged on `handle` itself: no server, no socket. */
import { handleService } from "../contract/handle_service.ts";
import { httpContract } from "../contract/register.ts";

httpContract("handle", () => Promise.resolve(handleService()));
