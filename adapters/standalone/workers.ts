/**
 * The workers of `deno serve --parallel`: several in one process. On Deno 2.9 the first one that
 * exits ends the process for all (its cli/tools/serve.rs), so each waits until all can leave. Can
 * go if a slow answer of one worker arrives although another exits (seen: lost in 4 of 4). Without
 * `--parallel` there is one worker, which waits for no other.
 */

/** A message from a worker to the others. */
interface Message {
  /** The sender. */
  readonly worker: string;
  readonly isLeaving: boolean;
}

/** Makes this worker known to the others. */
export function joinWorkers() {
  const worker = crypto.randomUUID();
  const channel = new BroadcastChannel("petstore workers");
  const anotherLeaves = Promise.withResolvers<void>();
  const allLeave = Promise.withResolvers<void>();
  /** The other known workers, by name, and whether they are leaving. */
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
    if (!others.has(data.worker)) tell(); // a new worker does not know this one yet
    others.set(data.worker, data.isLeaving);
    if (data.isLeaving) anotherLeaves.resolve();
    check();
  };
  tell();

  return {
    /** Resolves once another worker can leave: this one may have missed the signal. */
    anotherLeaves: anotherLeaves.promise,
    /** Tells the others that this worker can leave; resolves once all can. */
    leave(): Promise<void> {
      isLeaving = true;
      tell();
      check();
      return allLeave.promise;
    },
  };
}
