/**
 * The core alone: the fetch function, without a storage, keys or an adapter.
 *
 * @module
 */

export { createHandler } from "../../../core/handler.ts";
