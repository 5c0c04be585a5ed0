/** CORS in a real browser: what a page of another origin can do, and what it cannot. */
import assert from "node:assert/strict";
import test from "node:test";
import { toHandler } from "../../../core/handler.ts";
import { skipping } from "../../support/runtime.ts";
import { noBrowser, openPage } from "../../support/browser.ts";
import { REX_JSON } from "../../support/pets.ts";
import { listen, openStandalone } from "../../support/server.ts";

/** A response as a page sees it. */
interface Seen {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

test(
  "CORS_ORIGINS lets pages of these origins read answers, and no others",
  { skip: skipping(noBrowser), timeout: 600_000 },
  async (t) => {
    const headers = { "content-type": "text/html" };
    const page = toHandler(async () => ({
      status: 200,
      headers,
      body: "<!DOCTYPE html><title>A page</title>",
    }));
    const app = await listen(t, page);
    const stranger = await listen(t, page);
    const service = await openStandalone(t, { CORS_ORIGINS: app.url });
    const server = await listen(t, service.handle);
    const browser = await openPage(t);

    /** Sends a request from the page that is open. Rejects if the page may not read the response. */
    function askFromPage(path: string, init: RequestInit = {}): Promise<Seen> {
      const headers = { authorization: "Bearer secret", ...init.headers };
      const sent = JSON.stringify({ ...init, headers });
      return browser.page.evaluate(`(async () => {
        const response = await fetch("${server.url}${path}", ${sent});
        return {
          status: response.status,
          headers: Object.fromEntries(response.headers),
          text: await response.text(),
        };
      })()`);
    }

    const create = {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "idempotency-key": '"8e03978e-40d5-43dd-bc93-6894a57f9324"',
        "x-request-id": "from-a-page",
      },
      body: REX_JSON,
    };

    await browser.page.goto(app.url);
    const created = await askFromPage("/v1/pets", create);
    assert.equal(created.status, 201, created.text);
    assert.equal(created.headers.location, "pets/1");
    assert.equal(created.headers["x-request-id"], "from-a-page");
    const wrong = { headers: { authorization: "Bearer wrong" } };
    for (const [status, init] of [[401, wrong], [400, {}]] as const) {
      const refusal = await askFromPage("/v1/pets?limit=0", init);
      assert.equal(refusal.status, status);
      assert.equal(JSON.parse(refusal.text).status, status);
    }

    await browser.page.goto(stranger.url);
    assert.equal((await fetch(`${server.url}/livez`)).status, 200);
    await assert.rejects(askFromPage("/v1/pets"), /Failed to fetch/);
    await assert.rejects(askFromPage("/livez"), /Failed to fetch/);
  },
);
