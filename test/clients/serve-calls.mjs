// The loop of a child that runs single calls of libraries: one line of JSON in, one out; `id` joins the two.
import { createInterface } from 'node:readline';

/** `calls`: by name, what is run with a URL and a request. `errorOf`: how an exception is reported. */
export function serveCalls(calls, errorOf) {
  process.on('unhandledRejection', (reason) => say({ id: null, unhandled: String(reason) }));
  createInterface({ input: process.stdin }).on('line', async (line) => {
    const { id, call, at, request } = JSON.parse(line);
    try {
      say({ id, reply: await calls[call](at, request) });
    } catch (thrown) {
      say({ id, error: errorOf(thrown) });
    }
  });
}

function say(view) {
  process.stdout.write(`${JSON.stringify(view)}\n`);
}
