/** Writes JSON as readable YAML: one member per line, and text of several lines as such. */

/** Writes a value as `JSON.stringify` sees it. */
export function toYaml(value: unknown): string {
  return `${write(value, "")}\n`;
}

/** Writes a value; what has lines of its own begins with the end of the line. */
function write(value: unknown, indent: string): string {
  if (typeof value === "string" && value.includes("\n")) {
    const lines = value.split("\n")
      .map((line) => line && `${indent}${line}`);
    return `|-\n${lines.join("\n")}`;
  }
  const json = JSON.stringify(value); // also of a number of any length
  if (!/^[{[]./.test(json) || json.length === 2) return json;
  const parts = Array.isArray(value)
    ? value.map((item) => `- ${write(item, `${indent}  `).trimStart()}`)
    : Object.entries(value as object).map(([name, member]) => {
      const text = write(member, `${indent}  `);
      const key = /^[a-z$]\w*$/i.test(name) ? name : JSON.stringify(name);
      return `${key}:${text.startsWith("\n") ? "" : " "}${text}`;
    });
  return parts.map((part) => `\n${indent}${part}`).join("");
}
