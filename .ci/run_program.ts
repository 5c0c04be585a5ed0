import { spawnSync } from "node:child_process";

/** Runs a program. Its output is shown only if it fails. */
export function run(
  command: string,
  args: readonly string[],
  cwd: string,
): void {
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    cwd,
    encoding: "utf8",
  });
  if (status === 0) return;
  throw new Error(`${command} ${args.join(" ")}\n${error ?? stdout + stderr}`);
}
