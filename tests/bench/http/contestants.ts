/**
 * Who takes part: the programs in `tests/bench/contestants`, and the runtimes that each runs on.
 *
 * @module
 */

import { checkName, type RuntimeName, RUNTIMES } from "../options.ts";
import { KEY } from "./cases.ts";

/** A server that takes part. */
export interface Contestant {
  readonly name: string;
  /** Its program in `tests/bench/contestants`. */
  readonly program: string;
  readonly runtimes: readonly RuntimeName[];
  /** How the program is started on a port. */
  readonly args?: (port: number) => readonly string[];
  /** Environment variables of its own. */
  readonly env?: Readonly<Record<string, string>>;
  /** Where it is a ceiling: which fields of our header its constant answer has, and whether it reads. */
  readonly ceiling?: "content-type" | "ours" | "ours, reading";
  /** Where it is a framework: whether it adds the fields of our header that it would not have. */
  readonly addsOurFields?: true;
}

/** What everything is measured by. */
export const CEILING = "ceiling";
/** What everything is compared with. */
export const OURS = "ours";

/** Ours, which is asked even where it is not measured: all others must answer as it does. */
export const ours: Contestant = {
  name: OURS,
  program: "ours.ts",
  runtimes: RUNTIMES,
};

const standalone = {
  program: "ours_standalone.ts",
  runtimes: RUNTIMES,
  args: (port: number) => ["start", "--port", String(port)],
};

const CONTESTANTS: readonly Contestant[] = [
  {
    name: CEILING,
    program: "ceiling.ts",
    runtimes: RUNTIMES,
    ceiling: "content-type",
  },
  {
    name: "ceiling with our headers",
    program: "ceiling.ts",
    runtimes: RUNTIMES,
    ceiling: "ours",
  },
  {
    name: "least service",
    program: "ceiling.ts",
    runtimes: RUNTIMES,
    ceiling: "ours, reading",
  },
  ours,
  {
    name: "ours with global Response",
    program: "ours_global_response.ts",
    runtimes: ["node"],
  },
  {
    name: "ours standalone",
    ...standalone,
    env: { DATABASE_URL: "memory:", REQUEST_LOG: "off" },
  },
  {
    name: "ours standalone with log",
    ...standalone,
    env: { DATABASE_URL: "memory:", REQUEST_LOG: "on" },
  },
  ...framework("hono", RUNTIMES),
  ...framework("h3", RUNTIMES),
  ...framework("elysia", ["bun"]),
  ...framework("fastify", ["node"]),
  ...framework("express", ["node"]),
];

/** A framework as it is, and with the header fields that ours has. */
function framework(
  name: string,
  runtimes: readonly RuntimeName[],
): readonly Contestant[] {
  const plain = { name, program: `${name}.ts`, runtimes };
  return [
    plain,
    { ...plain, name: `${name} with our headers`, addsOurFields: true },
  ];
}

/** The environment that every contestant is started in, beside its own. */
export const COMMON_ENVIRONMENT = {
  NODE_ENV: "production",
  PETSTORE_API_KEYS: KEY,
};

/** The contestants of these names, or all. */
export function chooseContestants(
  names: readonly string[] | undefined,
): Contestant[] {
  const known = CONTESTANTS.map(({ name }) => name);
  names?.forEach((name) => checkName(name, known, "contestant"));
  return CONTESTANTS.filter(({ name }) => names?.includes(name) ?? true);
}
