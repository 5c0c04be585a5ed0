/**
 * What is measured, made as users have it: ours as the package that npm installs, and the peers as
 * JavaScript too, because a runtime that removes types at start takes more memory.
 */

import {
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import module from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { run } from "../../../.ci/run_program.ts";

const HERE = fileURLToPath(new URL("./", import.meta.url));
const NPM_FLAGS = ["--ignore-scripts", "--no-audit", "--no-fund"];

/** Programs in a folder that is gone once the bench ends. */
export interface Installed {
  /** Runs a program with a meter: the first argument. */
  readonly meter: URL;
  /** A program of a peer, such as `hono`. */
  peer(name: string): URL;
  /** Packs a checkout of this project, installs that, and returns its program. */
  pack(checkout: URL): URL;
}

/** Installs the peers, and their packages in the versions of `contestants/package-lock.json`. */
export function install(): Installed {
  const folder = mkdtempSync(join(tmpdir(), "petstore-bench-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const contestants = join(folder, "contestants");
  for (
    const path of globSync(["reply.ts", "contestants/{,stores/}*.ts"], {
      cwd: HERE,
    })
  ) {
    const target = join(folder, path.replace(/\.ts$/, ".js"));
    mkdirSync(dirname(target), { recursive: true });
    const source = readFileSync(join(HERE, path), "utf8");
    const code = module.stripTypeScriptTypes(source);
    writeFileSync(target, code.replaceAll(/\.ts(?=["`])/g, ".js"));
  }
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  for (const name of ["package.json", "package-lock.json"]) {
    copyFileSync(join(HERE, "contestants", name), join(contestants, name));
  }
  run("npm", ["ci", "--omit=dev", ...NPM_FLAGS], contestants);
  let packed = 0;
  return {
    meter: pathToFileURL(join(contestants, "metered.js")),
    peer: (name) => pathToFileURL(join(contestants, `${name}.js`)),
    pack(checkout) {
      const own = join(folder, `ours${packed++}`);
      mkdirSync(own);
      writeFileSync(join(own, "package.json"), '{"type":"module"}');
      const pack = fileURLToPath(new URL(".ci/pack.ts", checkout));
      run(process.execPath, ["run", "-A", pack], own);
      const [file = ""] = globSync("*.tgz", { cwd: own });
      const { imports, name } = JSON.parse(
        readFileSync(new URL("deno.json", checkout), "utf8"),
      );
      // What the README has a user install for PostgreSQL and for the page.
      const optional = [imports.pg, imports["swagger-ui-dist"]]
        .map((specifier: string) => specifier.replace(/^npm:/, ""));
      run("npm", ["install", ...NPM_FLAGS, `./${file}`, ...optional], own);
      return pathToFileURL(join(own, "node_modules", name, "bin.js"));
    },
  };
}
