/**
 * A server whose parts write what happens to them. Its arguments say what goes wrong:
 * `open:NAME` and `close:NAME` fail, `slow:NAME` opens 200 ms after a signal, `never:NAME` never
 * opens; `fail` ends the server once all parts are open.
 */

import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { live } from "../../../adapters/standalone/life.ts";

const faults = process.argv.slice(2);
const say = (line: string) => process.stdout.write(`${line}\n`);

async function openPart(name: string): Promise<string> {
  say(`opening ${name}`);
  const keep = setInterval(() => {}, 1000);
  if (faults.includes(`open:${name}`)) throw new Error(`no ${name}`);
  if (faults.includes(`never:${name}`)) await new Promise(() => {});
  if (faults.includes(`slow:${name}`)) {
    await new Promise<void>((told) => process.once("SIGTERM", () => told()));
    await delay(200);
  }
  clearInterval(keep);
  return name;
}

async function closePart(name: string): Promise<void> {
  await delay(5);
  say(`closing ${name}`);
  if (faults.includes(`close:${name}`)) throw new Error(`${name} stays open`);
}

const result = await live(async (life) => {
  await life.open(openPart("storage"), closePart);
  await life.open(openPart("listener"), closePart);
  life.atEnd((signal) => say(`ending by ${signal}`));
  const timer = setInterval(() => {}, 1000);
  life.atEnd(() => clearInterval(timer));
  if (faults.includes("fail")) {
    setImmediate(() => life.fail(new Error("the log is lost")));
  }
  return "open";
});
say(result);
