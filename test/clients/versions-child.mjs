// Official libraries of several versions that read the same bodies: what the user of each sees. One JSON line in, one out.
// The bodies are served by this process over loopback HTTP, piece by piece: how a stream ends is part of the test.
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { LIBRARIES } from './versions-readers.mjs';

const CLIENT = { apiKey: 'sk-nobody', model: 'public-model' };

/** The active scenarios, by their ids. */
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
    // Each piece is a write of its own: the next one is written after this one was sent.
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
    seen.reply = await LIBRARIES[library][format]({ ...CLIENT, url: own, ...scenario });
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
// Helpers also reject promises that are not used.
process.on('unhandledRejection', () => {});
// Loading a library may block this process beyond the usual five seconds: connections would be closed while they are used again.
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', async () => {
  for await (const line of createInterface({ input: process.stdin })) void run(JSON.parse(line));
});
