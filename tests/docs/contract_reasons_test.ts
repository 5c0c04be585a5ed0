import assert from "node:assert/strict";
import { test } from "node:test";
import { operationsOf } from "../../core/operations.ts";
import { readText } from "../support/repository.ts";

const operations = operationsOf({ hasGetPet: true });

test("contract.md gives a reason for each answer that the interface leaves open", () => {
  const tables = readText("docs/contract.md").split(/\n\n/)
    .filter((part) => part.startsWith("| Question"))
    .map((part) =>
      part.split("\n").filter((line) => line.startsWith("|"))
        .map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()))
    );
  assert.equal(tables.length, 4, "add rows to one of its four tables");
  for (const [head = [], , ...rows] of tables) {
    assert.deepEqual(head, ["Question", "Answer", "Why"]);
    for (const [question, , why] of rows) {
      assert.ok(why, `${question} has no reason`);
    }
  }
});

test("contract.md and the README say how many operations there are", () => {
  const numbers = ["no", "one", "two", "three", "four", "five", "six"];
  const keyed = operations.filter(({ isPublic }) => isPublic !== true);
  const words = `${numbers[keyed.length]} operations`;
  for (const path of ["docs/contract.md", "README.md"]) {
    const isSaid = readText(path).replaceAll(/\s+/g, " ").includes(words);
    assert.ok(isSaid, `say in ${path} that there are ${words}`);
  }
});
