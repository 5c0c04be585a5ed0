/**
 * The picture of the figures: bars in one panel for each database. It needs no script and no font, and
 * follows the reader's light or dark colors.
 */

/** How many times as fast ours is, by runtime and case. */
export interface Panel {
  readonly title: string;
  readonly bars: readonly {
    readonly runtime: string;
    readonly title: string;
    readonly times: number;
  }[];
}

const HEADING = "Times as fast as Hono or Fastify on the same database";
const WIDTH = 810;
/** Left of the bars of a panel; two are beside each other. */
const LEFT = [165, 500] as const;
/** How long the longest bar is; beside it stands its figure. */
const LONGEST = 250;
const BAR = 13;
const TOP = 104;
const GAP = 16;

const STYLE = `
  svg { font: 14px system-ui, -apple-system, "Segoe UI", sans-serif }
  rect.paper { fill: #ffffff } text { fill: #1f2328 } .peer { stroke: #59636e }
  .small { font-size: 12px; paint-order: stroke; stroke-width: 4px; stroke: #ffffff }
  .right { text-anchor: end } .title { font-weight: 600 }
  .deno { fill: #0072b2 } .bun { fill: #d55e00 } .node { fill: #2b8a3e }
  @media (prefers-color-scheme: dark) {
    rect.paper { fill: #0d1117 } text { fill: #f0f6fc } .peer { stroke: #9198a1 }
    .small { stroke: #0d1117 }
    .deno { fill: #58a6e0 } .bun { fill: #ef8c4a } .node { fill: #5bb974 }
  }
`;

/** Draws the picture, as SVG. */
export function drawPicture(panels: readonly Panel[]): string {
  const bars = panels.flatMap((panel) => panel.bars);
  const cases = [...new Set(bars.map(({ title }) => title))];
  const runtimes = [...new Set(bars.map(({ runtime }) => runtime))];
  const scale = LONGEST / Math.max(...bars.map(({ times }) => times));
  const group = runtimes.length * BAR + GAP;
  const row = cases.length * group + 60;

  const title = text(16, 30, HEADING, "title");
  const legend = runtimes.flatMap((runtime, index) => [
    rectangle(LEFT[1] + 90 * index, 19, 12, 12, runtime.toLowerCase()),
    text(LEFT[1] + 90 * index + 18, 30, runtime),
  ]);
  const drawn = panels.flatMap(({ title, bars }, index) => {
    const left = LEFT[index % 2] ?? 0;
    const above = TOP + Math.floor(index / 2) * row;
    const bottom = above + cases.length * group;
    const one = left + scale;
    const names = index % 2 > 0 ? [] : cases.map((title, index) => {
      const y = above + index * group + (group - GAP) / 2 + 5;
      return text(left - 12, y, title, "right");
    });
    return [
      text(left, above - 22, title, "title"),
      ...names,
      `<path class="peer" stroke-dasharray="3 3" d="M${round(one)} ${
        above - 6
      }V${bottom - 4}"/>`,
      ...bars.flatMap(({ runtime, title, times }) => {
        const top = above + cases.indexOf(title) * group +
          runtimes.indexOf(runtime) * BAR;
        const width = times * scale;
        return [
          rectangle(left, top, width, BAR - 2, runtime.toLowerCase()),
          text(left + width + 5, top + 10, formatTimes(times), "small"),
        ];
      }),
      text(one - 4, bottom + 12, "1× = Hono or Fastify", "small"),
    ];
  });
  const described = panels.map(({ title, bars }) =>
    `${title}: ${
      bars.map(({ runtime, title, times }) =>
        `${runtime}, ${title} ${formatTimes(times)}`
      ).join("; ")
    }.`
  ).join(" ");
  const height = TOP + Math.ceil(panels.length / 2) * row - 32;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="title desc">
<title id="title">${HEADING}</title>
<desc id="desc">${described}</desc>
<style>${STYLE}</style>
<rect class="paper" width="${WIDTH}" height="${height}" rx="8"/>
${[title, ...legend, ...drawn].join("\n")}
</svg>
`;
}

/** Two digits: `0.92×`, `1.5×`, `12×`. */
export function formatTimes(times: number): string {
  return `${times.toPrecision(2)}×`;
}

function text(x: number, y: number, shown: string, name = ""): string {
  const own = name === "" ? "" : ` class="${name}"`;
  return `<text x="${round(x)}" y="${round(y)}"${own}>${shown}</text>`;
}

function rectangle(
  ...[x, y, width, height, name]: [number, number, number, number, string]
): string {
  return `<rect class="${name}" x="${x}" y="${y}" width="${
    round(width)
  }" height="${height}"/>`;
}

function round(length: number): number {
  return Math.round(10 * length) / 10;
}
