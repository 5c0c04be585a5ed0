import assert from "node:assert/strict";
import { Client } from "pg";
import { testCluster } from "../support/postgres/test_cluster.ts";
import { Load, pause } from "./load.ts";
import { withServers } from "./servers.ts";

testCluster(
  "every request is refused in time where others use all connections of PostgreSQL",
  async (cluster) => {
    const url = await cluster.newDatabase();
    await withServers(2, url, async (servers) => {
      const load = new Load();
      const others = await useUpConnections(url);
      // The servers lost their connections at that.
      for (const server of servers) assert.equal(await server.readiness(), 503);
      load.start(servers, { writers: 4, readers: 4 });
      await pause(2000);
      assert.equal(load.count("acknowledged"), 0);
      assert.ok(load.count("refused") > 0);
      assert.ok(load.refusedReads > 0);

      await Promise.all(others.map((session) => session.end()));
      await load.more(100);
      await load.stop();
      for (const server of servers) assert.equal(await server.readiness(), 200);
      assert.equal(load.count("uncertain"), 0);
      load.assertInTime();
      await load.verify(servers[0]);
    });
  },
  { settings: { max_connections: "12" } },
);

/** Takes all connections there are, those of the servers too. */
async function useUpConnections(url: string): Promise<readonly Client[]> {
  const sessions: Client[] = [];
  const TOO_MANY = "53300";
  for (;;) {
    try {
      const session = new Client({ connectionString: url });
      // What ends the connection rejects the statements as well.
      session.on("error", () => {});
      await session.connect();
      sessions.push(session);
    } catch (error) {
      assert.equal((error as { code?: unknown }).code, TOO_MANY);
      const ended = await sessions[0]?.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where application_name = 'petstore'`,
      );
      if (ended?.rowCount === 0) return sessions;
      // It takes a moment until they are gone.
      await pause(100);
    }
  }
}
