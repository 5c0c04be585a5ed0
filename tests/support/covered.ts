/** Which test covers a source that has no test of its name. */

/** By test, the sources that it covers besides the one of its name. */
export const COVERED: Readonly<Record<string, string>> = {
  "imports_test.ts": "core/kit.ts mod.ts",

  "adapters/handler_contract_test.ts": "core/pet_store.ts core/service.ts",
  "adapters/handler_test.ts": "adapters/handler_options.ts core/options.ts",
  "core/http/body_test.ts": "core/handler.ts core/runtimes.ts",
  "core/keys_test.ts": "core/sha256.ts",
  "core/openapi/openapi_test.ts":
    "core/openapi/descriptions.ts core/operations.ts",
  "laws/issued_key_test.ts": "adapters/keys/key_form.ts",
  "laws/exchanges_test.ts": "core/answer.ts core/errors.ts",
  "laws/openapi_examples_test.ts": "core/openapi/examples.ts",
  "laws/openapi_test.ts": "core/openapi/responses.ts core/openapi/schemas.ts",
  "core/pets/new_pet_test.ts": "core/pets/problems.ts",
  "laws/limit_bounds_test.ts": "core/pets/page.ts",

  "docs/openapi_files_test.ts":
    "adapters/standalone/openapi_30.ts core/openapi/document.ts",

  "adapters/http/fetch_server_test.ts":
    "adapters/http/bun/mod.ts adapters/http/node/mod.ts",
  "adapters/http/node/listener_test.ts": "adapters/http/node/exchange.ts",
  "adapters/client/http_test.ts":
    "adapters/client/client.ts adapters/client/mod.ts",
  "adapters/docs/docs_test.ts":
    "adapters/docs/in_pieces.ts adapters/docs/mod.ts adapters/docs/page_endpoints.ts",

  "adapters/sandbox/store_test.ts":
    "adapters/sandbox/break_body.ts adapters/sandbox/journal.ts adapters/sandbox/mod.ts adapters/sandbox/prefer.ts",

  "adapters/storage/memory/memory_test.ts": "adapters/storage/memory/mod.ts",
  "adapters/storage/d1/d1_test.ts":
    "adapters/storage/d1/fault.ts adapters/storage/d1/mod.ts",
  "adapters/storage/sqlite/contract_test.ts":
    "adapters/storage/api_keys.ts adapters/storage/sqlite/mod.ts adapters/storage/stored_row.ts",
  "adapters/storage/sqlite/faults_test.ts":
    "adapters/storage/sqlite/database.ts adapters/storage/sqlite/open.ts",
  "adapters/storage/postgres/contract_test.ts":
    "adapters/storage/postgres/mod.ts adapters/storage/postgres/open.ts",
  "adapters/storage/postgres/tables_test.ts":
    "adapters/storage/postgres/creates.ts adapters/storage/postgres/schema.ts adapters/storage/postgres/statement.ts adapters/storage/postgres/turn.ts",
  "adapters/storage/grouped_test.ts": "adapters/storage/pet_database.ts",

  "adapters/storage/postgres/connections_test.ts":
    "adapters/storage/postgres/client.ts adapters/storage/postgres/reads.ts adapters/storage/postgres/settings.ts",

  "adapters/layers/order_test.ts": "adapters/layers/mod.ts",
  "adapters/layers/metrics_test.ts": "adapters/standalone/storage_metrics.ts",
  "adapters/standalone/copy_records_test.ts":
    "adapters/storage/transfer.ts adapters/storage/postgres/transfer.ts adapters/storage/sqlite/transfer.ts",
  "adapters/standalone/config_test.ts": "adapters/program/values.ts",
  "adapters/standalone/main_test.ts": "adapters/standalone/start.ts",
  "adapters/standalone/service_test.ts":
    "adapters/layers/drain.ts adapters/layers/probes.ts",
  "adapters/standalone/permissions_test.ts":
    "adapters/standalone/open_storage.ts",
};
