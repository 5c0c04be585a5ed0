import { sha256 } from "../../core/sha256.ts";
import { apiKeys, type FoundKey, rememberKeys } from "../../core/keys.ts";
import assert from "node:assert/strict";
import test from "node:test";

test("apiKeys takes its keys alone, even after the caller's array has changed", async () => {
  const list = ["one", "two"];
  const keys = apiKeys(list);
  list.splice(0, 2, "three");
  const others = ["", "One", "one ", "onetwo", "one,two", "three"];
  for (let turn = 0; turn < 2; turn++) {
    const valid = await Promise.all(["one", "two"].map(keys.verify));
    assert.deepEqual(valid, [true, true]);
    for (const key of others) assert.equal(await keys.verify(key), false, key);
  }
});

test("apiKeys throws a TypeError, without the key, if a key cannot be sent", () => {
  const wrong = ["", "a b", "a\n", "schlüssel", "\x7f", " a", undefined, 7];
  for (const key of wrong) {
    assert.throws(() => apiKeys(["good", key as string]), {
      name: "TypeError",
      message:
        "API key 2 of 2 must be a non-empty string of visible ASCII characters, without spaces",
    }, `${key}`);
  }
  for (const wrong of ["good", []]) {
    assert.throws(() => apiKeys(wrong as string[]), {
      name: "TypeError",
      message: "API keys must be an array of at least one key",
    }, `${wrong}`);
  }
});

test("a key is hashed before it is compared, so that time tells nothing of it", async (t) => {
  const keys = apiKeys(["pet_secret"]);
  const guesses = ["pet_secres", "x", "pet_secret".repeat(9), "pet_secret"];
  const { mock } = t.mock.method(crypto.subtle, "digest");
  for (const [index, guess] of guesses.entries()) {
    assert.equal(await keys.verify(guess), guess === "pet_secret", guess);
    // The key itself is hashed at the first.
    assert.equal(mock.callCount(), index + 2, guess);
  }
});

test("sha256 is SHA-256 in lower-case hexadecimal", async () => {
  // FIPS 180-2, appendix B.1
  assert.equal(
    await sha256("abc"),
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  );
});

const VALID: FoundKey = { result: true };

/**
 * Keys that are remembered for 1000 ms of a clock that the test sets, and the look-ups. An answer
 * takes `takes` ms.
 */
function remembered() {
  const state = {
    time: 0,
    takes: 0,
    isValid: true,
    found: VALID,
    asked: [] as string[],
  };
  const keys = rememberKeys((digest) => {
    state.asked.push(digest);
    state.time += state.takes;
    return Promise.resolve(state.isValid ? state.found : undefined);
  }, { maxAge: 1000, now: () => state.time });
  return { keys, state };
}

const result = { id: "a" };
/** What is found, how long a look-up takes, and how long the result is remembered, in ms. */
const AGES: Readonly<Record<string, readonly [FoundKey, number, number]>> = {
  "for a second": [VALID, 0, 1000],
  "while it is valid": [{ result, validFor: 300 }, 0, 300],
  "no longer than a second": [{ result, validFor: 5000 }, 0, 1000],
  "from when it asked, not from the answer": [VALID, 600, 1000],
};
for (const [how, [found, takes, age]] of Object.entries(AGES)) {
  test(`rememberKeys remembers what was found by digest ${how}`, async () => {
    const { keys, state } = remembered();
    Object.assign(state, { found, takes });
    for (const [passed, asked] of [[0, 1], [age - 1, 1], [age, 2]] as const) {
      state.time = 5000 + passed;
      assert.equal(await keys.verify("abc"), found.result, `${passed}`);
      assert.deepEqual(
        state.asked,
        Array(asked).fill(await sha256("abc")),
        `${passed}`,
      );
    }
  });
}

test("rememberKeys remembers no more than 10,000 keys", async () => {
  const { keys, state } = remembered();
  for (let i = 0; i < 10_000; i++) await keys.verify(`${i}`);
  await keys.verify("0");
  assert.equal(state.asked.length, 10_000);
  await keys.verify("10000");
  await keys.verify("0");
  assert.equal(state.asked.length, 10_002);
});

test("rememberKeys remembers valid keys only, and forgets when it is told", async () => {
  for (const isTold of [false, true]) {
    const { keys, state } = remembered();
    assert.equal(await keys.verify("x"), true, `${isTold}`);
    state.isValid = false;
    assert.equal(await keys.verify("x"), true, `${isTold}`);
    if (isTold) keys.forget();
    else state.time = 1000;
    for (let asked = 2; asked < 4; asked++) {
      assert.equal(await keys.verify("x"), false, `${isTold}`);
      assert.equal(state.asked.length, asked, `${isTold}`);
      state.time++;
    }
  }
});

/** Keys whose first look-up, which is under way, answers when told to, and later ones at once. */
async function withSlowLookUp(...later: readonly FoundKey[]) {
  const { promise, resolve } = Promise.withResolvers<FoundKey | undefined>();
  const asked = Promise.withResolvers<void>();
  const answers = [promise, ...later];
  const keys = rememberKeys(async () => {
    asked.resolve();
    return await answers.shift();
  }, { maxAge: Infinity });
  const early = keys.verify("x");
  await asked.promise;
  return { keys, early, answer: resolve };
}

test("rememberKeys keeps no key that one of two look-ups calls invalid", async () => {
  const { keys, early, answer } = await withSlowLookUp(VALID);
  assert.equal(await keys.verify("x"), true);
  answer(undefined);
  assert.equal(await early, false);
  assert.equal(await keys.verify("x"), false);
});

test("an answer from before forget is not kept", async () => {
  const { keys, early, answer } = await withSlowLookUp();
  keys.forget(); // as the key is revoked
  answer(VALID);
  assert.equal(await early, true);
  assert.equal(await keys.verify("x"), false);
});

test("rememberKeys keeps no answer if the look-up fails, and asks again", async () => {
  let turn = 0;
  const keys = rememberKeys(
    () =>
      turn++ === 0 ? Promise.reject(new Error("down")) : Promise.resolve(VALID),
    { maxAge: Infinity },
  );
  await assert.rejects(keys.verify("x"), /down/);
  assert.equal(await keys.verify("x"), true);
});
