/**
 * The workers of `deno serve --parallel`. Each loads the server, and the first that exits ends the
 * process for all: so they wait for each other.
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
 * @param onEnding called when another worker is done, perhaps more than once: the process is ending.
 * A worker that was still loading when the signal came only learns of it this way.
 */
export function joinWorkers(onEnding: () => void): Workers {
  const worker = crypto.randomUUID();
  const channel = new BroadcastChannel("petstore workers");
  const busy = new Set<string>();
  const known = new Set<string>();
  const all = Promise.withResolvers<void>();
  let done = false;

  function announce(): void {
    channel.postMessage({ worker, done } satisfies Message);
  }

  function check(): void {
    if (done && busy.size === 0) all.resolve();
  }

  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (!known.has(data.worker)) {
      known.add(data.worker);
      announce(); // a newcomer does not know this worker yet
    }
    if (data.done) {
      busy.delete(data.worker);
      onEnding();
    } else {
      busy.add(data.worker);
    }
    check();
  };
  announce();

  return {
    allDone() {
      done = true;
      announce();
      check();
      return all.promise;
    },
  };
}
