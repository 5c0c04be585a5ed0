/**
 * Returns a function that counts what a stage of a long command has done, and writes a line every 5 s
 * at most.
 *
 * @param now a clock, in ms.
 */
export function startProgress(
  stage: string,
  total: number,
  tell: (line: string) => void,
  now = () => performance.now(),
): (count: number) => void {
  let done = 0;
  let toldAt = now();
  return (count) => {
    done += count;
    if (now() - toldAt < 5000) return;
    toldAt = now();
    // Rows may have been added since the total was counted.
    tell(`${stage}: ${Math.min(done, total)} of ${total}`);
  };
}
