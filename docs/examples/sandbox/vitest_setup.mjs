// One sandbox for all threads: in vitest.config.js, `test: { globalSetup: "vitest_setup.mjs" }`.
import { sandbox } from "@petstore/service/sandbox";

export default async function setup(project) {
  const server = await sandbox({ worlds: true, pets: 50 }).serve();
  project.provide("url", server.url);
  project.provide("control", server.control);
  return server.close;
}
