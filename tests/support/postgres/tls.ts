/** TLS for a server, with a certificate that an authority of the test's own has signed. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Cluster } from "./cluster.ts";
import { serverAccount } from "./processes.ts";
import { run, runWell } from "../process.ts";
import { runSql } from "./sql.ts";
import { until } from "../time.ts";

/** `false`, or why there can be no certificates: the `openssl` command makes them. */
export async function missingTls(): Promise<string | false> {
  const { code } = await run(["openssl", "version"]);
  return code !== 0 && "openssl is not installed here";
}

/**
 * Has a server take TLS connections besides plain ones, as `localhost` and as 127.0.0.1.
 *
 * @returns the path of the authority's certificate, for `sslrootcert`; it goes with the server's folder.
 */
export async function enableTls(cluster: Cluster): Promise<string> {
  const file = (name: string): string => join(cluster.folder, name);
  const [authority, authorityKey] = [file("ca.crt"), file("ca.key")];
  const [certificate, key] = [file("server.crt"), file("server.key")];
  const openssl = (words: string) => runWell(`openssl ${words}`.split(" "));
  const request =
    "req -new -newkey ec -nodes -pkeyopt ec_paramgen_curve:prime256v1";

  await openssl(
    `${request} -x509 -days 2 -subj /CN=Authority -keyout ${authorityKey} -out ${authority}`,
  );
  await openssl(
    `${request} -subj /CN=localhost -keyout ${key} -out ${file("server.csr")}`,
  );
  writeFileSync(
    file("server.ext"),
    "subjectAltName = DNS:localhost, IP:127.0.0.1\n",
  );
  await openssl(
    `x509 -req -days 2 -in ${
      file("server.csr")
    } -CA ${authority} -CAkey ${authorityKey} ` +
      `-CAcreateserial -extfile ${file("server.ext")} -out ${certificate}`,
  );
  serverAccount().give(key);

  await cluster.query(`alter system set ssl_cert_file = '${certificate}'`);
  await cluster.query(`alter system set ssl_key_file = '${key}'`);
  await cluster.query("alter system set ssl = on");
  await cluster.query("select pg_reload_conf()");
  const url = `${cluster.url("postgres")}?sslmode=no-verify`;
  await until(
    "the server takes TLS connections",
    () => runSql(url, "select").then(() => true, () => false),
  );
  return authority;
}
