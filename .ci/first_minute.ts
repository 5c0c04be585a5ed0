/**
 * Draws the first minute with the pet store from a real run: starts a server on a new database,
 * runs the commands that it prints, and writes what a terminal shows to `docs/first_minute.svg`.
 *
 *     deno run -A .ci/first_minute.ts            draws the picture
 *     deno run -A .ci/first_minute.ts --check    fails if the picture shows anything else
 */

const PICTURE = new URL("../docs/first_minute.svg", import.meta.url);
/** Matches the part of a line that fits, up to the end of a word. */
const FITTING = /.{1,92}(?= |$)/g;
/** Colors of commands and comments, by the first character of the line. */
const COLORS: Readonly<Record<string, string>> = {
  $: "#7ee787",
  "#": "#9da7b3",
};
const ADDRESS = "http://127.0.0.1:8000";

/** Returns what the server prints until it is ready, and then what its two commands print. */
async function firstMinute(folder: string): Promise<readonly string[]> {
  // It shows a key only on a terminal.
  const command = `'${Deno.execPath()}' task start --port 0`;
  const server = new Deno.Command("script", {
    args: ["-qefc", command, "/dev/null"],
    cwd: new URL("..", import.meta.url),
    env: { DATABASE_URL: `sqlite:${folder}/petstore.db`, NO_COLOR: "1" },
    stdin: "null",
    stdout: "piped",
    stderr: "null",
    signal: AbortSignal.timeout(60_000),
  }).spawn();
  try {
    let greeting = "";
    for await (
      const text of server.stdout.pipeThrough(new TextDecoderStream())
    ) {
      greeting += text.replaceAll("\r", "");
      if (/^ {4}pet_\w+\n\n$/m.test(greeting)) break;
    }
    const commands = greeting.match(/(?<=^ {4})curl .*/gm) ?? [];
    if (commands.length !== 2) throw new Error(`It did not start: ${greeting}`);
    let shown = `$ deno task start\n${greeting.replace(" '--port' '0'", "")}`;
    shown += "# In another terminal:\n";
    for (const command of commands) {
      const { stdout } = await new Deno.Command("bash", {
        args: ["-c", command],
      }).output();
      shown += `$ ${command}\n${new TextDecoder().decode(stdout)}`;
    }
    const [origin = ""] = /http:\/\/[\d.:]+/.exec(greeting) ?? [];
    return shown.trimEnd().replaceAll(origin, ADDRESS).split("\n");
  } finally {
    server.kill("SIGTERM");
    await server.status;
  }
}

/**
 * Draws a terminal with these lines, broken between words, without a script, a style sheet or a
 * font.
 */
function draw(lines: readonly string[]): string {
  const rows = lines.flatMap((line) => {
    const color = COLORS[line.charAt(0)] ?? "#e6edf3";
    return (line.match(FITTING) ?? [""]).map((part) => ({ part, color }));
  });
  const height = 20 * rows.length + 28;
  const text = rows.map(({ part, color }, index) =>
    `<text x="16" y="${20 * index + 30}" fill="${color}">${
      escapeXml(part)
    }</text>`
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="810" viewBox="0 0 810 ${height}" role="img" aria-labelledby="title desc">
<title id="title">The first minute with the pet store, in a terminal</title>
<desc id="desc">deno task start prints the docs page, two curl commands, the address and the first API key. The first command adds a pet, the second lists it.</desc>
<rect width="810" height="${height}" rx="8" fill="#161b22"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" xml:space="preserve">
${text.join("\n")}
</g>
</svg>
`;
}

/** Escapes text, and keeps leading spaces. */
function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")
    .replace(/^ +/, (spaces) => "\u00a0".repeat(spaces.length));
}

const folder = await Deno.makeTempDir();
try {
  const picture = draw(await firstMinute(folder));
  if (Deno.args.includes("--check")) {
    const [drawn, real] = [await Deno.readTextFile(PICTURE), picture]
      .map((text) => text.replaceAll(/pet_\w+/g, "KEY"));
    if (drawn !== real) throw new Error("docs/first_minute.svg is out of date");
  } else await Deno.writeTextFile(PICTURE, picture);
} finally {
  await Deno.remove(folder, { recursive: true });
}
