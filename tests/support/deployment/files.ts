/** What the files for deployment under `docs/examples/` say, as far as tests act on it. @module */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The folder of the repository, without a slash at its end. */
export const ROOT: string = fileURLToPath(new URL("../../..", import.meta.url))
  .replace(/\/$/, "");

/** A file of the repository. */
export function read(path: string): string {
  return readFileSync(`${ROOT}/${path}`, "utf8");
}

/** The words of `ExecStart` of the unit. */
export function unitCommand(): readonly string[] {
  const unit = read("docs/examples/systemd/petstore.service")
    .replaceAll(/^#.*\n/gm, "")
    .replaceAll(/\\\n\s*/g, "");
  return one(unit, /^ExecStart=(.+)$/m).split(/\s+/);
}

/** What `petstore.env` sets. */
export function unitEnvironment(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    read("docs/examples/systemd/petstore.env").split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => line.split(/=(.*)/s, 2) as [string, string]),
  );
}

/** The words of `ENTRYPOINT` and `CMD`. */
export function imageCommand(): readonly string[] {
  const lines = dockerfile();
  return [
    ...JSON.parse(one(lines, /^ENTRYPOINT (\[.+\])$/m)),
    ...JSON.parse(one(lines, /^CMD (\[.+\])$/m)),
  ];
}

/** The words of `HEALTHCHECK … CMD`. */
export function imageHealthCheck(): readonly string[] {
  return JSON.parse(one(dockerfile(), /^HEALTHCHECK .*CMD (\[.+\])$/m));
}

/** What the image's own `ENV` sets. */
export function imageEnvironment(): Readonly<Record<string, string>> {
  const [, image = ""] = dockerfile().split(/^FROM .*distroless.*$/m);
  return Object.fromEntries(
    one(image, /^ENV (.+)$/m).split(" ")
      .map((word) => word.split(/=(.*)/s, 2) as [string, string]),
  );
}

/** The `Dockerfile` with one line for each instruction. */
export function dockerfile(): string {
  return read("docs/examples/container/Dockerfile").replaceAll(/\\\n\s*/g, "");
}

/** What the only group of an expression matches. */
export function one(text: string, expression: RegExp): string {
  const found = expression.exec(text)?.[1];
  if (found === undefined) throw new Error(`There is no ${expression}`);
  return found;
}
