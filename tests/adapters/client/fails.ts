/** Calls that reject. */
import assert from "node:assert/strict";
import type { Client, PetStoreError } from "../../../adapters/client/mod.ts";
import { failure, scripted, type Step } from "./scripted.ts";
import { REX } from "../../support/pets.ts";

export const CALLS = {
  get: (client: Client) => client.getPet(7n),
  list: (client: Client) => client.listPets(),
  create: (client: Client) => client.createPet(REX),
} as const;

/**
 * Makes a call that gets one response, and returns its error, which must have this code and status.
 */
export async function fails(
  call: keyof typeof CALLS,
  step: Step,
  code: string,
  status?: number,
): Promise<PetStoreError> {
  const { client } = scripted([step], { retries: 0 });
  const error = await failure(CALLS[call](client));
  assert.deepEqual([error.code, error.status], [code, status]);
  return error;
}
