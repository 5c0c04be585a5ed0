import assert from "node:assert/strict";
import { test } from "node:test";
import { PETS } from "../../../../adapters/storage/transfer.ts";
import { parsePostgresUrl } from "../../../../adapters/storage/postgres/address.ts";
import { postgresStorage } from "../../../../adapters/storage/postgres/mod.ts";
import {
  postgresSource,
  postgresTarget,
} from "../../../../adapters/storage/postgres/transfer.ts";
import { PETS_LOCK } from "../../../../adapters/storage/postgres/turn.ts";
import { petId } from "../../../../core/pets/pet.ts";
import { PATIENT, sharedPostgres } from "../../../support/postgres/shared.ts";
import { runSql } from "../../../support/postgres/sql.ts";
import { sqlContract } from "../sql_contract.ts";
import { key, newPet, REX } from "../../../support/pets.ts";
import { until } from "../../../support/time.ts";

const { skip, emptyDatabase, onDatabase } = await sharedPostgres();

sqlContract(
  (title, check) => test(`postgresStorage ${title}`, { skip }, check),
  async () => {
    const url = `${await emptyDatabase()}?connection_limit=4`;
    return {
      open: (options) => postgresStorage(url, { ...PATIENT, ...options }),
      async sql(text) {
        const [row = {}] = await runSql(url, text);
        return Object.values(row)[0];
      },
    };
  },
  {
    noTom: "alter table pets add constraint no_tom check (name <> 'Tom')",
    lastId: (id) =>
      `select setval(pg_get_serial_sequence('pets', 'id'), ${id})`,
    impossible: `alter table pets drop constraint pets_status_check;
      update pets set status = 7 where id = 5`,
    noIds: /^(?!StorageError).*reached maximum value of sequence/,
  },
);

onDatabase.test("another user's functions and operators of the same names are never called", async ({ url, open, sql }) => {
  const target = await postgresTarget(parsePostgresUrl(url));
  const storage = await open();
  const evil = [
    "nextval(text)",
    "cardinality(text[])",
    "array_remove(text[], text)",
    "array_remove(text[], unknown_text)",
    "unnest(text[])",
    "unnest(bigint[])",
    "unnest(smallint[])",
    "unnest(integer[])",
    "pg_advisory_xact_lock(text)",
    "pg_advisory_xact_lock(numeric)",
    "pg_logical_emit_message(boolean, unknown_text, unknown_text)",
    "pg_get_serial_sequence(unknown_text, unknown_text)",
    "set_config(unknown_text, text, boolean)",
    "set_config(varchar, varchar, boolean)",
    "set_config(name, name, boolean)",
    "set_config(anyelement, anyelement, boolean)",
    "set_config(text, text, boolean, integer default 1)",
    "set_config(text, text, variadic boolean[])",
    "current_setting(unknown_text)",
    "current_setting(varchar)",
    "current_setting(name)",
    "current_setting(anyelement)",
    "current_setting(text, boolean default true)",
    "current_setting(variadic text[])",
    "evil_equals(text, varchar)",
    "evil_equals(text, name)",
    "setval(regclass, text)",
    "setval(regclass, numeric)",
    "concat_ws(text, timestamptz, oid, oid)",
    "has_schema_privilege(text, oid, text)",
    "evil_times(numeric, integer)",
    "evil_times(double precision, integer)",
    "evil_equals(oid, regclass)",
    "evil_state(text, name, text)",
  ];
  /** Those whose results are conditions. */
  const conditions = ["has_schema_privilege", "evil_equals"];
  const typeOf = (signature: string) =>
    conditions.includes(signature.replace(/\(.*/, "")) ? "boolean" : "text";
  await sql(`grant create on schema public to public;
    create domain unknown_text as text;
    create sequence calls;
    ${
    evil.map((signature) =>
      `create function ${signature} returns ${
        typeOf(signature)
      } language plpgsql as $$ begin
          perform pg_catalog.nextval('calls'::regclass);
          raise exception 'evil ${signature}';
        end $$;`
    ).join("\n")
  }
    create operator * (leftarg = numeric, rightarg = integer, function = evil_times);
    create operator * (leftarg = double precision, rightarg = integer, function = evil_times);
    create operator = (leftarg = oid, rightarg = regclass, function = evil_equals);
    create operator = (leftarg = text, rightarg = varchar, function = evil_equals);
    create operator = (leftarg = text, rightarg = name, function = evil_equals);
    create aggregate string_agg(name, text) (sfunc = evil_state, stype = text);`);
  // The cautions are only asked for, so a fault of theirs is not told.
  await (await open(url, { onWarning() {} })).close();
  await storage.create(REX);
  await Promise.all([1, 1, 2].map((n) => storage.create(REX, key(n))));
  await storage.create(REX, key(1));
  await Promise.all([
    storage.get(petId(1n)),
    storage.get(petId(2n)),
    storage.list({ limit: 1 }),
    storage.list({ limit: 2, status: "sold" }),
    storage.apiKeys.isActive("a"),
    storage.apiKeys.isActive("b"),
  ]);
  const record = { name: "Ann", digest: "a", created: new Date(0) };
  const { id } = await storage.apiKeys.insert(record);
  await storage.apiKeys.revoke(id, new Date());
  await sql("truncate pets, api_keys, idempotency_keys");
  await target.fill((write) => target.continueAfter(write, PETS, 1000n));
  assert.equal((await storage.create(REX)).id, 1001n);
  await target.close();
  const source = await postgresSource(parsePostgresUrl(url));
  const given = await source.snapshot((read) =>
    read("read", source.selectLastGiven(PETS))
  );
  assert.deepEqual(given, [[1001n]]);
  await source.close();
  const rows = await sql("select is_called from calls");
  assert.deepEqual(rows, [{ is_called: false }]);
});

onDatabase.test("postgresStorage warns of what may do harm later, and says what to do about it", async ({ url, open, sql }) => {
  await (await open()).close();
  const told = async (parameters = "") => {
    const lines: string[] = [];
    const onWarning = (line: string) => lines.push(line);
    await (await open(`${url}?${parameters}`, { onWarning })).close();
    return lines.join("\n");
  };
  assert.equal(await told(), "");
  await sql("grant create on schema public to public");
  assert.match(await told(), /REVOKE CREATE ON SCHEMA public FROM PUBLIC$/);
  await sql("revoke create on schema public from public");
  await sql("alter sequence pets_id_seq cache 50");
  assert.match(await told(), /ALTER SEQUENCE pets_id_seq CACHE 1$/);
  await sql("alter sequence pets_id_seq cache 1");
  assert.match(await told("pgbouncer=true"), /SET lock_timeout = '3s'$/);
  const options = "options=-c%20lock_timeout%3D3s";
  assert.equal(await told(`pgbouncer=true&${options}`), "");
});

onDatabase.test("postgresStorage works with the greatest value of each option", async ({ url, open }) => {
  const most = 2 ** 31 - 1;
  const storage = await open(url, {
    connectTimeout: most,
    queryTimeout: most,
    openTimeout: most,
    idempotencyRetention: Number.MAX_SAFE_INTEGER,
  });
  const pet = await storage.create(REX, key(1));
  const again = await storage.create(REX, key(1));
  assert.deepEqual(again, { ...pet, replayed: true });
  const record = { name: "Ann", digest: "1", created: new Date(0) };
  assert.equal((await storage.apiKeys.insert(record)).id, 1);
});

onDatabase.test("PostgreSQL ends a statement that nobody waits for any more", async ({ url, open, sql }) => {
  await (await open()).create(REX);
  await sql(`alter table pets rename to slow; create view pets as
      select slow.* from slow, (select pg_sleep(60)) as pause`);
  const { list } = await open(url, { queryTimeout: 3000 });
  await assert.rejects(list({ limit: 1 }), { kind: "unavailable" });
  const running = `select from pg_stat_activity
    where datname = current_database() and state = 'active' and pid <> pg_backend_pid()`;
  const isEnded = async () => (await sql(running)).length === 0;
  await until("no statement runs", isEnded);
});

onDatabase.test("postgresStorage refuses a replay whose key was forgotten just now", async ({ open, sql }) => {
  const storage = await open();
  await storage.create(REX, key(1));
  await sql(`create function forget() returns trigger language plpgsql as
      'begin delete from idempotency_keys; return null; end';
    create trigger forget after insert on pets execute function forget()`);
  await assert.rejects(storage.create(REX, key(1)), {
    kind: "unavailable",
    message: "Cannot create pet: its idempotency key expired just now",
  });
  assert.equal((await storage.create(REX, key(1))).id, 2n);
});

const cases = [
  ["connection_limit=1", 20_000, "3s", "off", "on"],
  ["connection_limit=1", 4000, "2400ms", "local", "local"],
  ["connection_limit=1&pgbouncer=true", 4000, "0", "off", "on"],
] as const;
for (const [parameters, queryTimeout, lockTimeout, setting, used] of cases) {
  onDatabase.test(`postgresStorage writes to disk: ${parameters}, ${lockTimeout}, ${setting}`, async ({ url, open, sql }) => {
    const option = `options=-c%20synchronous_commit%3D${setting}`;
    const storage = await open(`${url}?${option}&${parameters}`, {
      queryTimeout,
      onWarning() {},
    });
    await sql(`create table seen (setting text);
      create function look() returns trigger language plpgsql as $$ begin
        insert into seen values (current_setting('synchronous_commit'));
        return null;
      end $$;
      create trigger look after insert on pets execute function look();
      create trigger look after insert or update on api_keys execute function look()`);
    await storage.create(REX);
    const record = { name: "Ann", digest: "1", created: new Date(0) };
    const { id } = await storage.apiKeys.insert(record);
    await storage.apiKeys.revoke(id, new Date(0));
    const rows = await sql("select setting from seen");
    assert.deepEqual(rows, Array(3).fill({ setting: used }));
    await sql(`alter table pets rename to stored;
      create view pets as select id, category_id, status,
        concat_ws(' ', current_setting('lock_timeout'),
          current_setting('idle_in_transaction_session_timeout'),
          current_setting('synchronous_commit'),
          current_setting('client_min_messages')) as name from stored`);
    const { name } = await storage.get(petId(1n)) ?? {};
    assert.equal(name, `${lockTimeout} 0 ${setting} notice`);
  });
}

onDatabase.test("creates take their ids in their turn: alone, together, and with a key", async ({ open, sql, connect }) => {
  const [alone, together, once] = [
    await open(),
    await open(),
    await open(),
  ];
  const other = await connect();
  await other.query("select pg_advisory_lock($1)", [PETS_LOCK]);
  const creating = Promise.all([
    alone.create(REX),
    together.create(REX),
    together.create(REX),
    once.create(REX, key(1)),
  ]);
  const waiting = `select from pg_stat_activity
    where wait_event = 'advisory' and datname = current_database()`;
  await until(
    "each statement waits for its turn",
    async () => (await sql(waiting)).length === 3,
  );
  const rows = await sql("select is_called from pets_id_seq");
  assert.deepEqual(rows, [{ is_called: false }]);
  await other.query("select pg_advisory_unlock($1)", [PETS_LOCK]);
  const ids = (await creating).map(({ id }) => id);
  assert.deepEqual(ids.sort(), [1n, 2n, 3n, 4n]);
});

onDatabase.test("postgresStorage finds the pets of a status, and expired keys, in an index", async ({ url, open, sql }) => {
  // A table as small as these is otherwise read as a whole.
  const storage = await open(`${url}?options=-c%20enable_seqscan%3Doff`);
  await storage.list({ limit: 1, status: REX.status });
  await storage.create(REX, key(1));
  await storage.close(); // so that the server counts what it used
  const used = `select indexrelname as name from pg_stat_user_indexes
    where indexrelname like '%\\_by\\_%' and idx_scan > 0 order by name`;
  const names = async () => (await sql(used)).map(({ name }) => name).join();
  const both = "idempotency_keys_by_created,pets_by_status";
  await until(`${both} are used`, async () => await names() === both);
});

onDatabase.test("postgresStorage is copied with 30 s for a lock, and 60 s for a statement", async ({ url }) => {
  const target = await postgresTarget(parsePostgresUrl(url));
  const sql = `select current_setting('lock_timeout'),
    current_setting('idle_in_transaction_session_timeout')`;
  const settings = await target.fill((write) => write("look", sql));
  assert.deepEqual(settings, [["30s", "1min"]]);
  await target.close();
  const source = await postgresSource(parsePostgresUrl(url));
  const given = await source.snapshot((read) =>
    read("look", source.selectLastGiven(PETS))
  );
  assert.deepEqual(given, [[0n]]);
  await source.close();
});

onDatabase.test("postgresStorage leaves a database that it cannot use as it is, and disconnects", async ({ url, open, sql }) => {
  const copying = postgresSource(parsePostgresUrl(url));
  await assert.rejects(copying, {
    kind: "unavailable",
    message:
      "Cannot open the database: it lacks the tables of this program, which a server makes when it starts; nothing was changed",
  });
  await sql("create table pets (id int)");
  await assert.rejects(open(), /another program has a table named pets/);
  const tables = "select tablename from pg_tables where schemaname = 'public'";
  assert.deepEqual(await sql(tables), [{ tablename: "pets" }]);
  await sql("drop table pets");
  await (await open()).close();
  await sql("update petstore_schema set version = 2");
  await assert.rejects(
    open(),
    /are version 2, but this release supports only version 1\. Nothing was changed\. Start the newer release, /,
  );
  const others = `select from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`;
  const haveLeft = async () => (await sql(others)).length === 0;
  await until("its connections are closed", haveLeft, 20_000); // idle ones end after 30 s
});

onDatabase.test("postgresStorage prepares its reads anew after the type of a column was changed", async ({ url, open, sql }) => {
  const storage = await open(`${url}?connection_limit=1`);
  const pet = await storage.create(REX);
  const read = () =>
    Promise.all([storage.get(pet.id), storage.list({ limit: 1 })]);
  await read();
  await sql("alter table pets alter column name type varchar(300)");
  assert.deepEqual(await read(), [pet, { pets: [pet] }]);
});

onDatabase.test("postgresStorage knows that a create is committed, whatever a trigger does", async ({ open, sql }) => {
  const storage = await open();
  await sql(`create function act() returns trigger language plpgsql as $$ begin
      raise warning 'audit';
      return case when new.name <> 'Tom' then new end;
    end $$;
    create trigger act before insert on pets for each row execute function act()`);
  assert.equal((await storage.create(REX)).id, 1n);
  for (const optionsOf of [() => ({}), key]) {
    const creates = ["Rex", "Tom", "Ann"].map((name, i) =>
      storage.create(newPet({ ...REX, name }), optionsOf(i))
    );
    for (const create of creates) {
      await assert.rejects(create, {
        kind: "outcome_unknown",
        message: /\(create pet\): the database kept 2 of 3 pets$/,
      });
    }
  }
});

onDatabase.test("postgresStorage reads from a server that only reads, and refuses creates there", async ({ url, open }) => {
  await (await open()).create(REX);
  const readOnly = `${url}?options=-c%20default_transaction_read_only%3Don`;
  const storage = await open(readOnly);
  await storage.ping();
  assert.equal((await storage.list({ limit: 9 })).pets.length, 1);
  const refused = { kind: "unavailable", message: /read-only/ };
  await assert.rejects(storage.create(REX), refused);
  const primary = `${readOnly}&target_session_attrs=primary`;
  await assert.rejects(open(primary, { openTimeout: 0 }), refused);
});

onDatabase.test("postgresStorage lists in the order of ids, whatever plan the server makes", async ({ url, open, sql }) => {
  const plan = ["indexscan", "bitmapscan", "indexonlyscan"]
    .map((name) => `-c enable_${name}=off`).join(" ");
  const storage = await open(`${url}?options=${encodeURIComponent(plan)}`);
  for (let i = 0; i < 3; i++) await storage.create(REX);
  // The row is written anew, behind the others.
  await sql("update pets set name = 'Tom' where id = 1");
  for (const query of [{}, { status: REX.status }]) {
    const { pets } = await storage.list({ limit: 2, ...query });
    assert.deepEqual(pets.map(({ id }) => id), [1n, 2n], JSON.stringify(query));
  }
});

onDatabase.test("postgresStorage is not ready if its tables are gone", async ({ open, sql }) => {
  const storage = await open();
  await sql("drop table pets");
  await assert.rejects(storage.ping(), /pets/);
  await assert.rejects(storage.create(REX), /pets/);
  await assert.rejects(storage.list({ limit: 1 }), /pets/);
});
