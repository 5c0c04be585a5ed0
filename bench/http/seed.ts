/**
 * The animals that every server has before it is measured. They are added over HTTP, one after the
 * other, so that they have the same ids everywhere; and so that every server has warmed up.
 *
 * @module
 */

import { KEY } from "./cases.ts";

const NAMES = [
  "Rex",
  "Luna",
  "Zoë",
  "Bella",
  "Mr Whiskers",
  "Müsli",
  "Charlie",
];
const STATUSES = ["available", "pending", "sold"];

/** Adds animals to a server. */
export async function seed(origin: string, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const response = await fetch(`${origin}/v1/pets`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${KEY}`,
        "content-type": "application/json",
      },
      body: JSON.stringify({
        name: `${NAMES[i % NAMES.length]} ${i}`,
        categoryId: 1 + i % 12,
        status: STATUSES[i % STATUSES.length],
      }),
    });
    const text = await response.text();
    if (response.status !== 201) {
      throw new Error(
        `Cannot add animal ${i + 1}: ${response.status} ${text}`,
      );
    }
  }
}
