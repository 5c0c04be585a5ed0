/** `Prefer` (RFC 7240): what a client asks of one answer. */

import { type Answer, MAX_TIME, withFields } from "../../core/kit.ts";
import type { Fault } from "./fault.ts";
import { ERROR_CODES } from "./fault_answer.ts";

/** Reads `Prefer: code=503, delay=2000` (RFC 7240) as a fault that says which part is applied. */
export function preferred(field: string): Fault {
  const preferences = field.split(",").map((preference) => {
    const [words = ""] = preference.split(";", 1); // parameters follow
    const [name = "", value = ""] = words.split("=");
    return [name.trim().toLowerCase(), value.trim().replace(/^"(.*)"$/, "$1")];
  });
  const read = (name: string): number => {
    const [, value = ""] = preferences.find(([first]) => first === name) ?? [];
    return /^\d{1,10}$/.test(value) ? Number(value) : Infinity;
  };
  const [status, delay] = [read("code"), read("delay")];
  const isCode = ERROR_CODES.has(status);
  const isDelay = delay <= MAX_TIME;
  const applied = [isCode && `code=${status}`, isDelay && `delay=${delay}`]
    .filter(Boolean).join(", ");
  if (applied === "") return {};
  const headers = { "preference-applied": applied };
  return {
    answer: { headers, ...isCode && { status } },
    ...isDelay && { delay },
  };
}

/** Lets pages of other origins send `Prefer`, and read which preferences were applied. */
export function allowPrefer(answer: Answer): Answer {
  const allowed = answer.headers["access-control-allow-headers"];
  const exposed = answer.headers["access-control-expose-headers"];
  return withFields(answer, {
    ...allowed && { "access-control-allow-headers": `${allowed}, Prefer` },
    ...exposed && {
      "access-control-expose-headers": `${exposed}, Preference-Applied`,
    },
  });
}
