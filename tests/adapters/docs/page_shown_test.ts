/**
 * The documentation page in a real browser: what it shows, to everybody.
 *
 * `PAGE_SCREENSHOT=docs/page.png` also writes the picture that the README shows.
 */
import assert from "node:assert/strict";
import process from "node:process";
import axe, { type AxeResults } from "axe-core";
import type { Page } from "playwright-core";
import {
  BACKGROUND,
  CATEGORY,
  CREATE,
  DARK_BACKGROUND,
  enterKey,
  execute,
  fillInKey,
  GET,
  INVALID,
  LIST,
  onDesktop,
  onPage,
  open,
  PHONE,
  stores,
} from "./on_page.ts";

/**
 * What the page has to meet: the success criteria of WCAG 2.2, A and AA, and what axe calls best
 * practices.
 */
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
  .concat("best-practice");

/** The rules of axe that depend on colours, and those that depend on the size of the screen. */
const COLOUR_RULES = ["color-contrast", "link-in-text-block"];
const SIZE_RULES = ["target-size", "scrollable-region-focusable"];

/**
 * Finds violations of some rules or criteria on the page as it is now: rule, selector and problem
 * of each.
 */
async function violations(
  page: Page,
  type: "rule" | "tag",
  values: readonly string[],
): Promise<readonly string[]> {
  // Elements that still fade in have other colours.
  await page.evaluate(
    "Promise.allSettled(document.getAnimations().map((each) => each.finished))",
  );
  const options = JSON.stringify({ runOnly: { type, values } });
  const found: AxeResults = await page.evaluate(`axe.run(${options})`);
  assert.ok(found.passes.length > 0, "axe has looked at the page");
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id} ${node.target}: ${node.failureSummary}`)
  );
}

/**
 * Asserts that the page as it is now meets all criteria; in the dark and on a phone, those that may
 * differ there.
 */
async function assertAccessible(page: Page): Promise<void> {
  await page.evaluate(axe.source);
  const found = [...await violations(page, "tag", TAGS)];
  await page.emulateMedia({ colorScheme: "dark" });
  found.push(...await violations(page, "rule", COLOUR_RULES));
  await page.setViewportSize({ width: 390, height: 844 });
  found.push(...await violations(page, "rule", SIZE_RULES));
  assert.deepEqual(found, []);
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1280, height: 900 });
}

onDesktop.test("the page lists and adds pets to the last digit, and keeps the key nowhere", async ({ page, requests, complaints, origin }) => {
  await enterKey(page, "secret");
  await open(page, LIST);
  const after = page.locator(`${LIST} tr[data-param-name="after"] input`);
  assert.equal(await after.inputValue(), "");
  const { status, body } = await execute(page, LIST);
  assert.equal(status, "200");
  await page.getByText(/^200 in \d+ ms$/).waitFor();
  const answer = page.locator(`${LIST} .answer`);
  assert.equal(await answer.locator(".copy-to-clipboard").count(), 2);
  const saving = page.waitForEvent("download");
  await answer.locator(".download-contents").click();
  assert.equal((await saving).suggestedFilename(), "response.json");
  assert.equal(
    body.replace(/\s/g, ""),
    `[{"id":1,"name":"Rex","categoryId":${CATEGORY},"status":"available"}]`,
  );
  assert.deepEqual(complaints, []);
  assert.deepEqual(await stores(page), [{}, {}, ""]);
  assert.ok(requests.every((url) => !url.includes("secret")));
  const { PAGE_SCREENSHOT } = process.env;
  if (PAGE_SCREENSHOT !== undefined) {
    // From the operation's own line to the end of the response's body.
    await page.setViewportSize({ width: 1180, height: 1140 });
    await page.mouse.move(0, 0);
    await page.evaluate(`document.querySelector("${LIST}").scrollIntoView()`);
    await page.screenshot({ path: PAGE_SCREENSHOT, animations: "disabled" });
  }
  await page.click(`${LIST} .btn-clear`);
  await after.fill(`-${CATEGORY}`);
  await execute(page, LIST);
  for (const query of ["limit=1", `limit=20&after=-${CATEGORY}`]) {
    assert.ok(requests.includes(`${origin}/v1/pets?${query}`), query);
  }

  await open(page, CREATE);
  for (const name of ["Zoë", "Tom"]) { // and no key of idempotency for both
    const pet = `{"name":"${name}","categoryId":-${CATEGORY}}`;
    await page.fill(`${CREATE} textarea`, pet);
    const added = await execute(page, CREATE);
    assert.equal(added.status, "201", name);
    assert.match(added.body, new RegExp(`"categoryId": -${CATEGORY},`), name);
    await page.click(`${CREATE} .btn-clear`);
  }

  await page.fill(`${CREATE} textarea`, '{"name":"","categoryId":1}');
  const refused = await execute(page, CREATE);
  assert.equal(refused.status, "400");
  assert.match(refused.body, /"Cannot create pet: name must not be empty"/);
  // The browser itself logs a status of 400; the page logs nothing.
  assert.equal(complaints.length, 1);
  assert.match(complaints[0] ?? "", /status of 400 .*\/v1\/pets$/);
});

onDesktop.test("an example is shown and sent to the last digit, and the answer shows no key", async ({ page, origin, keys }) => {
  await page.getByText("paste an API key").waitFor();
  keys.add("Bob's-secret");
  await enterKey(page, "Bob's-secret");
  await page.locator(".btn.authorize", { hasText: "Change key" }).waitFor();
  await open(page, CREATE);
  assert.equal(page.url(), `${origin}/#/animals/createPet`);
  const section = page.locator(CREATE);
  assert.equal(
    await section.locator(".body-param-content-type select").isDisabled(),
    true,
  );
  const body = section.locator("textarea");
  await section.getByLabel("Example", { exact: true }).first()
    .selectOption("exact");
  assert.match(await body.inputValue(), RegExp(`: ${CATEGORY},`));
  const added = await execute(page, CREATE);
  assert.equal(added.status, "201");
  assert.match(added.body, RegExp(`"categoryId": ${CATEGORY},`));

  const answer = section.locator(".answer");
  const box = await answer.locator("h4").first().boundingBox();
  assert.ok(box !== null && box.y > 0 && box.y < 880, JSON.stringify(box));
  const shown = await answer.innerText();
  assert.match(shown, /Authorization: Bearer \$KEY'/);
  assert.doesNotMatch(shown, /secret/);
  assert.match(shown, /^content-type: application\/json$/m);
  await page.context().grantPermissions(["clipboard-read"]);
  await answer.locator(".curl-command button").click();
  const copied = await page.evaluate("navigator.clipboard.readText()");
  assert.match(`${copied}`, /Authorization: Bearer Bob'\\''s-secret'/);

  await body.fill("{}");
  const reset = await section.locator(".reset").boundingBox();
  const run = await section.locator(".execute").boundingBox();
  assert.ok(reset && run && Math.abs(reset.y - run.y) < 24, "beside Execute");
  await body.fill("");
  await section.locator(".execute").click();
  await answer.locator("h4", { hasText: /^400$/ }).waitFor();
  await answer.getByText(/Cannot read the body: it is missing/).waitFor();
  assert.doesNotMatch(await answer.innerText(), RegExp(CATEGORY));
});

onPage(PHONE)(
  "the page fits a phone, light or dark, and leads from a 401 to the form",
  async ({ page, complaints }) => {
    for (const operation of [LIST, CREATE, GET]) {
      const box = await page.locator(operation).boundingBox();
      assert.ok(box !== null && box.y + box.height < 844, operation);
    }
    assert.equal(await page.getByText("Servers").count(), 0);
    const prose = page.getByText("Every operation on pets needs");
    assert.equal(await prose.isVisible(), false);
    await page.getByText("Read this before").click();
    await prose.waitFor();
    await page.getByText("Read this before").click();

    assert.notEqual(await page.evaluate(BACKGROUND), DARK_BACKGROUND);
    const widest = `Math.max(document.documentElement.scrollWidth,
    document.body.scrollWidth)`;
    assert.equal(await page.evaluate(widest), 390);
    await enterKey(page, "secret");
    await open(page, LIST);
    // One column: a field has the width of the screen, not what a name beside it leaves.
    const field = await page.locator(`${LIST} .parameters input`).first()
      .boundingBox();
    assert.ok(field !== null && field.width > 300, JSON.stringify(field));
    assert.equal((await execute(page, LIST)).status, "200");
    await open(page, CREATE);
    assert.equal(await page.evaluate(widest), 390);
    assert.deepEqual(complaints, []);

    await page.emulateMedia({ colorScheme: "dark" });
    await page.reload(); // which forgets the key
    await page.locator(".opblock").first().waitFor();
    assert.equal(await page.evaluate(BACKGROUND), DARK_BACKGROUND);
    await open(page, GET);
    await page.fill(`${GET} tr[data-param-name="petId"] input`, "1");
    const refused = await execute(page, GET);
    assert.equal(refused.status, "401");
    assert.match(refused.body, /API key is missing/);

    // Far down the page, the hint points to the bar at the top, which opens the form.
    const hint = page.locator(`${GET} [role="alert"]`);
    assert.match(await hint.innerText(), /Press Authorize/);
    const bar = await page.locator(".btn.authorize").boundingBox();
    assert.ok(bar !== null && bar.y >= 0 && bar.y < 60, JSON.stringify(bar));
    await enterKey(page, "secret");
    await page.click(`${GET} .btn-clear`); // or the 401 may be read once more
    assert.equal((await execute(page, GET)).status, "200");
    assert.equal(await hint.count(), 0);
  },
);

onDesktop.test("the page with the form for the key meets WCAG 2.2 AA, also dark and on a phone", async ({ page }) => {
  await open(page, LIST);
  assert.equal((await execute(page, LIST)).status, "401");
  await page.click(".btn.authorize");
  await page.getByText("when you reload").waitFor();
  await page.getByText("If you run this service").click();
  await fillInKey(page, "wrong", INVALID);
  await assertAccessible(page);
  await fillInKey(page, "secret");
  await page.click(".btn.authorize");
  await page.getByRole("button", { name: "Forget" }).waitFor();
  await assertAccessible(page);
});

onDesktop.test("the page with answers meets WCAG 2.2 AA, also dark and on a phone", async ({ page }) => {
  await enterKey(page, "secret");
  await open(page, CREATE);
  assert.equal((await execute(page, CREATE)).status, "201");
  await open(page, GET);
  await page.fill(`${GET} tr[data-param-name="petId"] input`, "3");
  assert.equal((await execute(page, GET)).status, "404");
  await page.click(".models-control");
  await page.locator(".models.is-open").waitFor();
  for (const summary of await page.locator("summary").all()) {
    await summary.click();
  }
  await assertAccessible(page);
  await page.setViewportSize({ width: 390, height: 844 });
  assert.deepEqual(await violations(page, "tag", TAGS), []);
});
