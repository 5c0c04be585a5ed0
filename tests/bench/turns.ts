/**
 * Measuring by turns: the speed of a machine wanders more in a minute than what is compared differs. So
 * all take a turn in every round, and the ratios inside each round count.
 *
 * @module
 */

/** The figures of each, round by round. Another one begins in every round. */
export async function inTurns<Figure>(
  turns: Readonly<Record<string, () => Promise<Figure>>>,
  rounds: number,
): Promise<Record<string, Figure[]>> {
  const names = Object.keys(turns);
  const figures: Record<string, Figure[]> = Object.fromEntries(
    names.map((name) => [name, []]),
  );
  for (let round = 0; round < rounds; round++) {
    const first = round % names.length;
    for (const name of [...names.slice(first), ...names.slice(0, first)]) {
      const figure = await turns[name]?.();
      if (figure !== undefined) figures[name]?.push(figure);
    }
  }
  return figures;
}
