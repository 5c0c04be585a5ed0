/**
 * The workers of `deno serve --parallel`. Each loads the server, and the first that exits ends the
 * process for all: so they wait for each other.
 *
 * @module
 */

/**
 * Makes this worker known to the others.
 *
 * @param onEnding called when another worker is done, perhaps more than once: the process is ending.
 * A worker that was still loading when the signal came only learns of it this way.
 * @returns a function that says that this worker is done, and settles when all the others are too.
 */
export function joinWorkers(onEnding: () => void): () => Promise<void> {
  const own = { worker: crypto.randomUUID(), done: false };
  const others = new Map<string, boolean>();
  const all = Promise.withResolvers<void>();
  const channel = new BroadcastChannel("petstore workers");
  const announce = () => channel.postMessage(own);
  const check = () => {
    if (own.done && others.values().every((done) => done)) all.resolve();
  };

  channel.onmessage = ({ data }: MessageEvent<typeof own>) => {
    if (!others.has(data.worker)) announce(); // a newcomer does not know this worker yet
    others.set(data.worker, data.done);
    if (data.done) onEnding();
    check();
  };
  announce();

  return () => {
    own.done = true;
    announce();
    check();
    return all.promise;
  };
}
