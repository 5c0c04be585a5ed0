/** What can be changed in a source so that tests should notice it, and which test covers it. */

import module from "node:module";
import { type AnyNode, parse } from "acorn";

/** `to` in place of what is from `start` to `end`. */
export interface Mutation {
  readonly start: number;
  readonly end: number;
  readonly to: string;
}

/** By operator, or function of `Math`, what can stand in its place. */
const SWAPS: Readonly<Record<string, readonly string[]>> = {
  "===": ["!=="],
  "!==": ["==="],
  "<": ["<=", ">="],
  "<=": ["<", ">"],
  ">": [">=", "<="],
  ">=": [">", "<"],
  "&&": ["||"],
  "||": ["&&"],
  "??": ["&&", "||"],
  "+": ["-"],
  "-": ["+"],
  "*": ["/", "+"],
  "/": ["*"],
  "%": ["*"],
  "+=": ["-="],
  "-=": ["+="],
  "++": ["--"],
  "--": ["++"],
  max: ["min"],
  min: ["max"],
};

/** A text with one of these is SQL, or a part of it. */
const IS_SQL =
  /\b(?:SELECT|INSERT|UPDATE|DELETE|CREATE|WHERE|ORDER BY|PRAGMA|BEGIN)\b/;

/** By a word of SQL, what can stand in its place; what has another in it comes first. */
const SQL: Readonly<Record<string, string>> = {
  "IS NOT NULL": "IS NULL",
  "IS NULL": "IS NOT NULL",
  "IS NOT TRUE": "IS TRUE",
  "NOT NULL": "",
  "IF NOT EXISTS": "",
  "NOT EXISTS": "EXISTS",
  "PRIMARY KEY": "",
  'COLLATE "C"': "",
  "LEFT JOIN": "JOIN",
  "AS MATERIALIZED": "AS NOT MATERIALIZED",
  "ORDER BY id": "ORDER BY -id",
  "LIMIT": "LIMIT 1 +",
  "= WAL": "= DELETE",
  "= FULL": "= OFF",
  "= ON": "= OFF",
  AUTOINCREMENT: "",
  UNIQUE: "",
  STRICT: "",
  IMMEDIATE: "",
  ASC: "DESC",
  DESC: "ASC",
  AND: "OR",
  OR: "AND",
  ANY: "ALL",
  ALL: "ANY",
  "<>": "=",
  "<=": "<",
  ">=": ">",
  "<": "<=",
  ">": ">=",
  true: "false",
  false: "true",
  max: "min",
};
const SQL_WORD = RegExp(
  `(?<![\\w<>=])(?:${Object.keys(SQL).join("|")})(?![\\w<>=])`,
  "g",
);

/** The anchors and quantifiers of a regular expression; escapes, classes and groups go before them. */
const PATTERN =
  /\\.|\[(?:\\.|[^\]\\])*\]|\(\?|(?<anchor>[$^])|(?<quantifier>[*+?]|\{[\d,]+\})/g;

/**
 * Lists what can be changed in a source of TypeScript or JavaScript. Strings of several words are left
 * out if they are prose for people.
 */
export function mutationsOf(
  source: string,
  { isProse = false }: { readonly isProse?: boolean } = {},
): readonly Mutation[] {
  // Types become spaces, so positions stay.
  const program = parse(module.stripTypeScriptTypes(source), {
    ecmaVersion: "latest",
    sourceType: "module",
  });
  return [...nodesIn(program)].flatMap((node) => {
    const text = source.slice(node.start, node.end);
    return isProse && /^["'].* /.test(text) ? [] : changesOf(node, source);
  });
}

/** Yields all nodes of a tree but those of imports. */
function* nodesIn(tree: unknown): Generator<AnyNode> {
  if (typeof tree !== "object" || tree === null) return;
  if ("source" in tree && tree.source) return;
  if ("type" in tree) yield tree as AnyNode;
  for (const child of Object.values(tree)) yield* nodesIn(child);
}

function changesOf(node: AnyNode, source: string): readonly Mutation[] {
  const textOf = ({ start, end }: AnyNode) => source.slice(start, end);
  const become = ({ start, end }: AnyNode, ...all: readonly string[]) =>
    all.map((to) => ({ start, end, to }));
  const swap = (left: AnyNode, operator: string) => {
    const start = source.indexOf(operator, left.end);
    const end = start + operator.length;
    return (SWAPS[operator] ?? []).map((to) => ({ start, end, to }));
  };
  switch (node.type) {
    case "Literal":
      return changesOfLiteral(textOf(node), node.start);
    case "TemplateLiteral":
      return IS_SQL.test(textOf(node))
        ? node.quasis.flatMap((part) => changesOfSql(textOf(part), part.start))
        : [];
    case "ExpressionStatement":
    case "ThrowStatement":
    case "BreakStatement":
    case "ContinueStatement":
    case "ForStatement":
    case "ForOfStatement":
      return become(node, ";");
    case "WhileStatement":
      return become(node.test, "false");
    case "IfStatement":
    case "ConditionalExpression":
      return become(node.test, "true", "false");
    case "BinaryExpression":
    case "LogicalExpression":
    case "AssignmentExpression":
      return swap(node.left, node.operator);
    case "UpdateExpression":
      return node.prefix ? [] : swap(node.argument, node.operator);
    case "UnaryExpression":
      return node.operator === "!"
        ? become(node, `(${textOf(node.argument)})`)
        : [];
    case "AwaitExpression":
      return become(node, `(${textOf(node.argument)})`);
    case "SpreadElement":
      return become(node.argument, "[]");
    case "TryStatement":
      return [
        ...node.handler
          ? become(node.handler.body, "{}", '{ throw new Error("mutant"); }')
          : [],
        ...node.finalizer ? become(node.finalizer, "{}") : [],
      ];
    case "CallExpression": {
      const { callee, arguments: [, rejected] } = node;
      if (callee.type !== "MemberExpression") return [];
      switch (textOf(callee.property)) {
        case "catch":
        case "finally":
          return become(node, textOf(callee.object));
        case "then":
          return rejected ? become(rejected, "undefined") : [];
        case "max":
        case "min":
          return swap(callee.object, textOf(callee.property));
      }
      return [];
    }
    case "VariableDeclarator": {
      if (!/^[A-Z][A-Z\d_]+$/.test(textOf(node.id))) return [];
      const init = node.init?.type === "NewExpression"
        ? node.init.arguments[0]
        : node.init;
      if (init?.type === "ArrayExpression") {
        return init.elements.flatMap((one) =>
          one && one.type !== "SpreadElement" ? become(one, "...[]") : []
        );
      }
      return init && /^[\d_ *]+n?$/.test(textOf(init))
        ? become(
          init,
          `10${/n$/.test(textOf(init)) ? "n" : ""} * ${textOf(init)}`,
        )
        : [];
    }
    default:
      return [];
  }
}

function changesOfLiteral(text: string, start: number): readonly Mutation[] {
  const become = (...all: readonly string[]) =>
    all.map((to) => ({ start, end: start + text.length, to }));
  if (/^["']/.test(text)) {
    const changes = IS_SQL.test(text) ? changesOfSql(text, start) : [];
    if (changes.length > 0) return changes;
    return become(text.length > 2 ? '""' : '"mutant"');
  }
  if (text.startsWith("/")) {
    return [...text.matchAll(PATTERN)].flatMap(({ 0: part, index, groups }) => {
      const at = { start: start + index, end: start + index + part.length };
      if (groups?.anchor !== undefined) return [{ ...at, to: "" }];
      const more = part === "+"
        ? "*"
        : part === "*"
        ? "+"
        : part === "?"
        ? ""
        : part.replace(/\d+(?=\D*$)/, (count) => `${Number(count) + 1}`);
      return groups?.quantifier !== undefined ? [{ ...at, to: more }] : [];
    });
  }
  if (/^[\d_]+(\.\d|e)/.test(text)) return become("0", `10 * ${text}`);
  if (/^\d/.test(text)) {
    const end = text.endsWith("n") ? "n" : "";
    const value = BigInt(text.replaceAll(/[_n]/g, ""));
    return become(
      `${value + 1n}${end}`,
      `${value === 0n ? 2 : value - 1n}${end}`,
    );
  }
  if (text === "true") return become("false");
  return text === "false" ? become("true") : []; // `null` stays
}

function changesOfSql(text: string, start: number): readonly Mutation[] {
  return [...text.matchAll(SQL_WORD)].map(({ 0: word, index }) => ({
    start: start + index,
    end: start + index + word.length,
    to: SQL[word] ?? "",
  }));
}
