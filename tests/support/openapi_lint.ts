/** Redocly's and Spectral's linters find nothing in the OpenAPI document, and its generated types compile. @module */

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { openApi } from "../../core/openapi/openapi.ts";

// Fetched by `npx`, in these versions; the library itself does not depend on them.
const REDOCLY = "@redocly/cli@2.77.0";
const SPECTRAL = "@stoplight/spectral-cli@6.16.3";
const OPENAPI_TYPESCRIPT = "openapi-typescript@7.13.0";

const BASE_URLS = ["/v1", "/", "https://api.petstore.dev/v1"];

/** What a caller relies on in the generated types. */
const USES = `
import type { components, operations } from "./types.ts";

type NewPet = components["schemas"]["NewPet"];
type Page = operations["listPets"]["responses"][200]["content"]["application/json"];
type Query = NonNullable<operations["listPets"]["parameters"]["query"]>;

export const newPets: NewPet[] = [
  { name: "Rex", categoryId: 1 },
  { name: "Rex", categoryId: 1, status: "sold" },
  // @ts-expect-error -- a name is required
  { categoryId: 1 },
  // @ts-expect-error -- there is no such status
  { name: "Rex", categoryId: 1, status: "gone" },
];
export const page: Page = [
  { id: 1, name: "Rex", categoryId: 1, status: "available" },
];
export const queries: Query[] = [{}, { limit: 1, status: "sold", after: 7 }];
export const next: string | undefined =
  ({} as operations["listPets"]["responses"][200]["headers"]).Link;
export const allow: "GET, HEAD, OPTIONS" =
  ({} as operations["getPet"]["responses"][405]["headers"]).Allow;
export const etag: string =
  ({} as operations["getOpenApi"]["responses"][304]["headers"]).ETag;
`;

const folder = mkdtempSync(join(tmpdir(), "openapi-"));
try {
  writeFileSync(join(folder, "spectral.yaml"), 'extends: ["spectral:oas"]\n');
  for (const baseUrl of BASE_URLS) lint(baseUrl);
  compile();
} finally {
  rmSync(folder, { recursive: true });
}

function lint(baseUrl: string): void {
  write(baseUrl);
  const report = npx(
    [REDOCLY, "lint", "openapi.json", "--extends=recommended", "--format=json"],
  );
  const { totals } = JSON.parse(report) as {
    readonly totals: Readonly<Record<"errors" | "warnings", number>>;
  };
  if (totals.errors + totals.warnings > 0) {
    throw new Error(`Redocly: ${report}`);
  }
  npx([
    SPECTRAL,
    "lint",
    "openapi.json",
    "--ruleset=spectral.yaml",
    "--fail-severity=hint",
  ]);
  console.log(`${baseUrl}: Redocly and Spectral find nothing`);
}

function compile(): void {
  write("/v1");
  npx([OPENAPI_TYPESCRIPT, "openapi.json", "--output=types.ts"]);
  writeFileSync(join(folder, "uses.ts"), USES);
  run("deno", ["check", "--no-lock", "uses.ts"]);
  console.log("The types of openapi-typescript compile");
}

function write(baseUrl: string): void {
  writeFileSync(
    join(folder, "openapi.json"),
    JSON.stringify(openApi(baseUrl), null, 2),
  );
}

function npx(args: readonly string[]): string {
  return run("npx", ["--yes", "--ignore-scripts", ...args]);
}

/** Runs a command to its end, and returns what it wrote. */
function run(command: string, args: readonly string[]): string {
  try {
    return execFileSync(command, args, {
      cwd: folder,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...process.env,
        NO_COLOR: "1",
        REDOCLY_TELEMETRY: "off",
        REDOCLY_SUPPRESS_UPDATE_NOTICE: "true",
        SCARF_ANALYTICS: "false",
      },
    });
  } catch (cause) {
    const { stdout = "", stderr = "" } = cause as Record<string, string>;
    throw new Error(`${command} ${args.join(" ")}\n${stdout}\n${stderr}`);
  }
}
