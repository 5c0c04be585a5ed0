/** Redocly's and Spectral's linters find nothing in the OpenAPI document. */

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { openApi } from "../core/operations/operations.ts";

// Fetched by `npx`, in these versions; the library itself does not depend on them.
const REDOCLY = "@redocly/cli@2.77.0";
const SPECTRAL = "@stoplight/spectral-cli@6.16.3";

const BASE_URLS = ["/v1", "/", "https://api.petstore.dev/v1"];

const folder = mkdtempSync(join(tmpdir(), "openapi-"));
try {
  writeFileSync(join(folder, "spectral.yaml"), 'extends: ["spectral:oas"]\n');
  for (const baseUrl of BASE_URLS) lint(baseUrl);
} finally {
  rmSync(folder, { recursive: true });
}

function lint(baseUrl: string): void {
  const document = JSON.stringify(openApi(baseUrl));
  writeFileSync(join(folder, "openapi.json"), document);
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

/** Runs a tool to its end, and returns what it wrote. */
function npx(args: readonly string[]): string {
  try {
    return execFileSync("npx", ["--yes", "--ignore-scripts", ...args], {
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
    throw new Error(`${args.join(" ")}\n${stdout}\n${stderr}`);
  }
}
