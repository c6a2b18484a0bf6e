// Official libraries of several ages, handed the same bodies: what the user of each sees. One JSON line in, one out.
// The bodies are served by this process over loopback HTTP, piece by piece: how a stream ends is part of what is tried.
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { LIBRARIES } from './ages-readers.mjs';

const NOBODY = { apiKey: 'sk-nobody', model: 'public-model' };

/** The scenarios under way, by their ids. */
const serving = new Map();

const server = createServer((request, response) => {
  request.resume();
  const scenario = serving.get(request.url.split('/')[1]);
  if (!scenario) return response.writeHead(404).end();
  void serve(scenario, response);
});

async function serve({ status = 200, contentType, pieces, broken }, response) {
  response.writeHead(status, { 'content-type': contentType });
  response.on('error', () => {});
  for (const piece of pieces) {
    if (piece === '') continue;
    response.write(piece);
    // A write of its own each: the next leaves once this one is on its way.
    await new Promise(setImmediate);
  }
  if (broken) response.destroy();
  else response.end();
}

async function run({ id, library, format, ...scenario }) {
  const seen = { id };
  serving.set(String(id), scenario);
  try {
    const own = `http://127.0.0.1:${server.address().port}/${id}`;
    seen.reply = await LIBRARIES[library][format]({ ...NOBODY, url: own, ...scenario });
  } catch (thrown) {
    seen.error = {
      class: thrown?.constructor?.name,
      status: thrown?.status ?? thrown?.statusCode ?? null,
      message: String(thrown?.message ?? thrown).slice(0, 400),
    };
  }
  serving.delete(String(id));
  process.stdout.write(`${JSON.stringify(seen)}\n`);
}

console.warn = () => {};
console.error = () => {};
globalThis.AI_SDK_LOG_WARNINGS = false;
// Helpers reject promises that nobody asked for, too.
process.on('unhandledRejection', () => {});
// Loading a library may block this process beyond the usual five seconds: connections would be closed while they are used again.
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', async () => {
  for await (const line of createInterface({ input: process.stdin })) void run(JSON.parse(line));
});
