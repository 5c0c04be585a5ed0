/**
 * The workers of `deno serve --parallel`. Each loads the server anew, and the first one that exits
 * ends the process for all: so they wait for each other.
 *
 * @module
 */

/** The workers of this process, this one included. */
export interface Workers {
  /** Says that this worker is done; settles when all the others are too. */
  allDone(): Promise<void>;
}

interface Message {
  readonly worker: string;
  readonly done: boolean;
}

/**
 * Makes this worker known to the others.
 *
 * @param onEnding called where another is done: the process is ending. A worker that was still
 * loading when the signal came hears of it only so. May be called more than once.
 */
export function joinWorkers(onEnding: () => void): Workers {
  const worker = crypto.randomUUID();
  const channel = new BroadcastChannel("petstore workers");
  const busy = new Set<string>();
  const known = new Set<string>();
  const all = Promise.withResolvers<void>();
  let done = false;

  function say(): void {
    channel.postMessage({ worker, done } satisfies Message);
  }

  function check(): void {
    if (done && busy.size === 0) all.resolve();
  }

  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (!known.has(data.worker)) {
      known.add(data.worker);
      say(); // a newcomer does not know this worker yet
    }
    if (data.done) {
      busy.delete(data.worker);
      onEnding();
    } else {
      busy.add(data.worker);
    }
    check();
  };
  say();

  return {
    allDone() {
      done = true;
      say();
      check();
      return all.promise;
    },
  };
}
