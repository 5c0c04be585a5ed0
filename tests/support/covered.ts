/** By test, the sources that it covers besides the one of its name. */
export const COVERED: Readonly<Record<string, string>> = {
  "imports_test.ts": "mod.ts",

  "core/handler_contract_test.ts": "core/service.ts",
  "core/messages_test.ts": "core/http/message.ts core/http/refusal.ts",
  "core/keys/api_keys_test.ts": "core/sha256.ts",
  "laws/issued_key_test.ts": "core/keys/key_form.ts",
  "laws/authorization_test.ts": "core/keys/authenticate.ts",
  "laws/openapi_test.ts": "core/openapi/responses.ts core/openapi/schemas.ts",
  "core/openapi/openapi_test.ts": "core/openapi/document.ts",
  "core/pets/new_pet_test.ts": "core/name.ts",
  "core/handler_test.ts": "core/options.ts core/report.ts",
  "core/rate_limit_test.ts": "core/http/field_value.ts",

  "adapters/serve/fetch_server_test.ts":
    "adapters/bun/close.ts adapters/bun/mod.ts adapters/node/mod.ts adapters/serve/guard.ts",
  "adapters/node/node_test.ts":
    "adapters/node/exchange.ts adapters/node/listener.ts adapters/node/send.ts adapters/node/unread_body.ts",
  "adapters/node/request_test.ts":
    "adapters/node/body.ts adapters/node/headers.ts",
  "adapters/client/http_test.ts":
    "adapters/client/client.ts adapters/client/mod.ts",
  "adapters/docs/docs_test.ts":
    "adapters/docs/in_pieces.ts adapters/docs/mod.ts adapters/docs/page_endpoints.ts",

  "adapters/memory/memory_test.ts": "adapters/memory/mod.ts",
  "adapters/d1/d1_test.ts": "adapters/d1/fault.ts adapters/d1/mod.ts",
  "adapters/sqlite/contract_test.ts":
    "adapters/sqlite/mod.ts adapters/database/stored_row.ts",
  "adapters/sqlite/faults_test.ts":
    "adapters/sqlite/file.ts adapters/sqlite/open.ts",
  "adapters/postgres/contract_test.ts":
    "adapters/postgres/mod.ts adapters/postgres/storage.ts",
  "adapters/postgres/tables_test.ts":
    "adapters/postgres/creates.ts adapters/postgres/schema.ts adapters/postgres/statement.ts adapters/postgres/turn.ts adapters/database/schema_check.ts",
  "adapters/database/grouped_test.ts": "adapters/database/closed.ts",
  "adapters/defaults_test.ts": "adapters/database/retention.ts",

  "adapters/postgres/connections_test.ts":
    "adapters/postgres/client.ts adapters/postgres/pool.ts adapters/postgres/reads.ts",

  "adapters/standalone/copy_test.ts":
    "adapters/standalone/copy_records.ts adapters/database/transfer.ts adapters/postgres/transfer.ts adapters/sqlite/transfer.ts",
  "adapters/standalone/main_test.ts":
    "adapters/standalone/keys.ts adapters/standalone/start.ts",
  "adapters/standalone/app_test.ts":
    "adapters/standalone/admission.ts adapters/standalone/probes.ts",
  "adapters/standalone/permissions_test.ts":
    "adapters/standalone/open_storage.ts",
  "adapters/standalone/serve_test.ts":
    "adapters/standalone/shutdown.ts adapters/standalone/workers.ts",
};
