/** JSON Patch (RFC 6902) at JSON Pointers (RFC 6901). A change that would change nothing fails. */

import assert from "node:assert/strict";
/** A JSON value. */
type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };

/** Changes a document in place. */
export type Change = (document: unknown) => void;

/** Adds a member. */
export function add(pointer: string, value: JsonValue): Change {
  return (document) => {
    const { holder, key } = locate(document, pointer);
    assert.ok(!Object.hasOwn(holder, key), `${pointer} is there already`);
    holder[key] = value;
  };
}

/** Gives a member another value. */
export function replace(pointer: string, value: JsonValue): Change {
  return (document) => {
    const { holder, key } = locate(document, pointer);
    assert.ok(Object.hasOwn(holder, key), `${pointer} is not there`);
    assert.notDeepEqual(holder[key], value, `${pointer} is so already`);
    holder[key] = value;
  };
}

/** Takes a member away. */
export function remove(pointer: string): Change {
  return (document) => {
    const { holder, key } = locate(document, pointer);
    assert.ok(Object.hasOwn(holder, key), `${pointer} is not there`);
    delete holder[key];
  };
}

/** Gives a member, which may be there or not, the value of another. */
export function copy(from: string, to: string): Change {
  return (document) => {
    const source = locate(document, from);
    assert.ok(Object.hasOwn(source.holder, source.key), `${from} is not there`);
    const { holder, key } = locate(document, to);
    holder[key] = structuredClone(source.holder[source.key]);
  };
}

/** Gives a member another name or place. */
export function move(from: string, to: string): Change {
  return (document) => {
    copy(from, to)(document);
    remove(from)(document);
  };
}

/** A JSON Pointer made of the names on the way. */
export function pointerTo(...names: readonly string[]): string {
  return names.map((name) =>
    `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`
  ).join("");
}

/** What holds the member that a pointer names, and its name there. */
function locate(
  document: unknown,
  pointer: string,
): { readonly holder: Record<string, unknown>; readonly key: string } {
  const names = pointer.split("/").slice(1).map((name) =>
    name.replaceAll("~1", "/").replaceAll("~0", "~")
  );
  const key = names.pop() ?? "";
  let holder = document;
  for (const name of ["", ...names]) {
    if (name !== "") holder = (holder as Record<string, unknown>)[name];
    assert.ok(typeof holder === "object" && holder !== null, pointer);
  }
  return { holder: holder as Record<string, unknown>, key };
}
