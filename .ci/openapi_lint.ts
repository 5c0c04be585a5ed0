/**
 * Checks the OpenAPI document, and its files in docs/, with the linters of Redocly and Spectral.
 */

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { openApi } from "../core/openapi/document.ts";

// Fetched by `npx` in these versions; the library itself does not depend on them.
const REDOCLY = "@redocly/cli@2.77.0";
const SPECTRAL = "@stoplight/spectral-cli@6.16.3";

const BASE_URLS = ["/v1", "/", "https://api.petstore.dev/v1"];

const folder = mkdtempSync(join(tmpdir(), "openapi-"));
try {
  writeFileSync(join(folder, "spectral.yaml"), 'extends: ["spectral:oas"]\n');
  for (const baseUrl of BASE_URLS) {
    for (const getPet of [true, false]) {
      const document = JSON.stringify(openApi(baseUrl, { getPet }));
      lint(`${baseUrl}, getPet: ${getPet}`, "openapi.json", document);
    }
  }
  for (const name of ["openapi.json", "openapi.yaml", "openapi-3.0.json"]) {
    const file = new URL(`../docs/${name}`, import.meta.url);
    lint(`docs/${name}`, name, readFileSync(file, "utf8"));
  }
} finally {
  rmSync(folder, { recursive: true });
}

function lint(what: string, name: string, document: string): void {
  writeFileSync(join(folder, name), document);
  const report = npx(
    [REDOCLY, "lint", name, "--extends=recommended", "--format=json"],
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
    name,
    "--ruleset=spectral.yaml",
    "--fail-severity=hint",
  ]);
  console.log(`${what}: Redocly and Spectral find nothing`);
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
