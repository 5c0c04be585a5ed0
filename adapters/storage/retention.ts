/** Time that a storage keeps an idempotency key unless told otherwise, in ms: 24 hours. */
export const DEFAULT_RETENTION = 86_400_000;
