/** What is wrong with a value, as data: a refusal of the service and a `TypeError` both say it. */

/** A member or a parameter that is wrong. */
export interface Problem {
  /** Its name, such as `categoryId` or `limit`; `undefined` if the whole value is wrong. */
  readonly name: string | undefined;
  /** Why, such as `is required`. */
  readonly reason: string;
}

/** All that is wrong with a value: one problem or more. */
export class Problems {
  /** The problems, in the order of the members. */
  readonly all: readonly Problem[];

  /** Makes it of one problem or more. */
  constructor(all: readonly Problem[]) {
    this.all = all;
  }

  /** Says it in words, such as `name must not be empty; categoryId is required`. */
  toString(whole = "the body"): string {
    return this.all.map(({ name = whole, reason }) => `${name} ${reason}`)
      .join("; ");
  }
}

/**
 * Shows what a client sent, inside a message: as a JSON string, so that control characters are
 * escaped, and cut after 40 code points.
 */
export function quote(sent: string): string {
  const text = sent.replace(/^(.{40}).+$/su, "$1…");
  // JSON does not escape DEL and the C1 controls, which a terminal that shows a log may act on.
  return JSON.stringify(text).replace(
    /[\u007f-\u009f]/g,
    (control) => `\\u00${control.charCodeAt(0).toString(16)}`,
  );
}
