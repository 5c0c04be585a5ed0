/**
 * The requests that are measured, and what ours should reach in each.
 */

/** A request, sent again and again. */
export interface Case {
  readonly name: string;
  /** Path and query. */
  readonly target: string;
  /** The status that every answer must have. */
  readonly status: number;
  /** The least ratios of processor time for one request that are good enough. */
  readonly targets: Targets;
  /** The header fields beside `Host` and `Content-Length`. */
  readonly fields: Readonly<Record<string, string>>;
  /** Sent by POST. */
  readonly body: string | null;
}

/** The floor over ours, ours over standalone, and frameworks over ours: with our fields, as they are. */
export type Targets = Readonly<
  Record<"floor" | "standalone" | "fields" | "framework", number | undefined>
>;

/** The key that every server accepts. */
export const KEY = "pet_bench_0123456789abcdefghijklmnopqrstu";
const NEW_PET = '{"name":"Rex","categoryId":1,"status":"available"}';
/** A case whose contestants keep their pets in SQLite files: no 201 before a pet is on disk. */
export const DURABLE = "durable post";

const ROWS = [
  ["list20", "/v1/pets", 200, [0.75, 0.9, 1.1, 1]],
  ["list100", "/v1/pets?limit=100&status=available", 200, [0.65, 0.9, 1.2, 1]],
  ["get", "/v1/pets/123", 200, [0.85, 0.85, 1.15]],
  ["post", "/v1/pets", 201, [0.65, 0.85, 1]],
  ["unauthorized", "/v1/pets", 401, [0.88, 0.85, 1.15]],
  ["bad limit", "/v1/pets?limit=101", 400, [0.7, 0.85, 1]],
  [DURABLE, "/v1/pets", 201, []],
] as const;

/** All cases. */
export const CASES: readonly Case[] = ROWS.map(toCase);
/** The case whose request can be sent at any time. */
export const LIST20: Case = toCase(ROWS[0]);
const POST = toCase(ROWS[3]);

function toCase([name, target, status, targets]: typeof ROWS[number]): Case {
  const [floor, standalone, fields, framework] = targets;
  const type = { "content-type": "application/json" };
  const key = { authorization: `Bearer ${KEY}` };
  return {
    ...{ name, target, status },
    targets: { floor, standalone, fields, framework },
    fields: status === 401 ? {} : status === 201 ? { ...key, ...type } : key,
    body: status === 201 ? NEW_PET : null,
  };
}

/** The request of a case as it goes over the wire. */
export function requestText(
  { target, fields, body }: Case,
  port: number,
): string {
  const method = body === null ? "GET" : "POST";
  const length = new TextEncoder().encode(body ?? "").length;
  const lines = [["host", `127.0.0.1:${port}`], ...Object.entries(fields)]
    .map(([name, value]) => `${name}: ${value}`);
  if (body !== null) lines.push(`content-length: ${length}`);
  return [`${method} ${target} HTTP/1.1`, ...lines, "", body].join("\r\n");
}

/** Requests that add pets, the same to every server. */
export function fillingRequests(count: number, port: number): string[] {
  const names = ["Rex", "Luna", "Zoë", "Mr Whiskers", "Müsli"];
  const statuses = ["available", "pending", "sold"];
  return Array.from({ length: count }, (_, i) => {
    const name = `${names[i % names.length]} ${i + 1}`;
    const status = statuses[i % statuses.length];
    const body = JSON.stringify({ name, categoryId: 1 + i % 12, status });
    return requestText({ ...POST, body }, port);
  });
}
