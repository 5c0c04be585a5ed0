import assert from "node:assert/strict";
import { onEverySandbox } from "./sandbox_program.ts";

const it = onEverySandbox();

it("a lost answer closes the connection; with work the pet was added", async ({ drive, send }) => {
  const rex = '{"name":"Rex","categoryId":1}';
  for (const work of [false, true]) {
    await drive("POST", "/faults", { lose: true, work });
    assert.equal(await send("POST /v1/pets", rex), "");
    assert.match(
      await send("GET /v1/pets?after=50"),
      work ? /"id":51,"name":"Rex"/ : /\r\n\[\]$/,
    );
  }
  const { json } = await drive("GET", "/requests");
  const statuses = (json as { status: number | null; open?: true }[])
    .map(({ status, open }) => [status, open]);
  assert.deepEqual(statuses, [
    [null, undefined],
    [200, undefined],
    [null, undefined],
    [200, undefined],
  ]);
});
