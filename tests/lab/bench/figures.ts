/**
 * Takes figures in turns, and compares them within a round.
 */

/**
 * Measures in turns, because the speed of a machine drifts: each has a turn in each round, and the
 * starting order rotates. Resolves to the figures of each, round by round.
 *
 * @param warmUp how many rounds are not counted, before the others.
 */
export async function inTurns<Key, Figure>(
  turns: ReadonlyMap<Key, () => Promise<Figure>>,
  { rounds, warmUp }: { readonly rounds: number; readonly warmUp: number },
): Promise<ReadonlyMap<Key, readonly Figure[]>> {
  const all = [...turns].map(([key, turn]) => ({
    key,
    turn,
    figures: [] as Figure[],
  }));
  for (let round = 0; round < warmUp + rounds; round++) {
    const first = round % all.length;
    for (
      const { turn, figures } of [...all.slice(first), ...all.slice(0, first)]
    ) {
      const figure = await turn();
      if (round >= warmUp) figures.push(figure);
    }
  }
  return new Map(all.map(({ key, figures }) => [key, figures]));
}

/** One figure over another in each round: then the machine was the same for both. */
export function ratios(
  over: readonly number[],
  under: readonly number[],
): readonly number[] {
  return over.map((figure, round) => figure / (under[round] ?? NaN));
}

/** The median; `NaN` of nothing. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? NaN;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? NaN;
  return (lower + upper) / 2;
}
