/** Writes JSON as readable YAML: one member per line, and text of several lines as such. */

import { parseDocument, visit } from "yaml";

/** Writes a value as `JSON.stringify` sees it. */
export function toYaml(value: unknown): string {
  const document = parseDocument(JSON.stringify(value), { intAsBigInt: true });
  visit(document, {
    Collection: (_key, node) => void (node.flow = node.items.length === 0),
    Scalar(key, node) {
      const text = `${node.value}`;
      if (text.includes("\n")) node.type = "BLOCK_LITERAL";
      if (key === "key" && /^[a-z$]\w*$/i.test(text)) node.type = "PLAIN";
    },
  });
  return document.toString({ lineWidth: 0 });
}
