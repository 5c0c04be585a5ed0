/**
 * The workers of `deno serve --parallel`: several in one process. On Deno 2.9 the first that exits
 * ends the process for all (its cli/tools/serve.rs), so each waits until all can leave. Can go if a
 * slow answer of one worker arrives although another exits (seen: lost in 4 of 4). Without
 * `--parallel` there is one, which waits for nobody.
 */

/** What a worker tells the others. */
interface Message {
  /** Names the worker that tells it. */
  readonly worker: string;
  readonly isLeaving: boolean;
}

/** Makes this worker known to the others. */
export function joinWorkers() {
  const worker = crypto.randomUUID();
  const channel = new BroadcastChannel("petstore workers");
  const othersLeave = Promise.withResolvers<void>();
  const allLeave = Promise.withResolvers<void>();
  /** By their names, whether the others that are known are leaving. */
  const others = new Map<string, boolean>();
  let isLeaving = false;

  function tell(): void {
    channel.postMessage({ worker, isLeaving } satisfies Message);
  }

  function check(): void {
    const doOthersLeave = others.values().every((leaves) => leaves);
    if (isLeaving && doOthersLeave) allLeave.resolve();
  }

  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (!others.has(data.worker)) tell(); // a newcomer does not know this worker yet
    others.set(data.worker, data.isLeaving);
    if (data.isLeaving) othersLeave.resolve();
    check();
  };
  tell();

  return {
    /** Fulfilled when another worker begins to leave: one that was loading missed the signal. */
    othersLeave: othersLeave.promise,
    /** Tells the others that this worker can leave; fulfilled once all can. */
    leave(): Promise<void> {
      isLeaving = true;
      tell();
      check();
      return allLeave.promise;
    },
  };
}
