/** The other reader of the fuzzer: Node's own server and client, strict, fed without sockets. A case a line of JSON, an answer a line. */
import { Agent, createServer, request } from 'node:http';
import { createInterface } from 'node:readline';
import { Duplex } from 'node:stream';

/** Enough turns for all that bytes can cause where nothing waits for a network. */
const TURNS = 4;

class Line extends Duplex {
  remoteAddress = '127.0.0.1';
  _read() {}
  _write(_chunk, _encoding, done) {
    done();
  }
  setTimeout() {
    return this;
  }
  setNoDelay() {}
  setKeepAlive() {}
  ref() {}
  unref() {}
}

async function settle() {
  for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** What has come of a message by now: also where a fault behind it has kept its end from being told. */
function readingOf(incoming, members) {
  const pieces = [];
  incoming.on('error', () => {});
  incoming.on('data', (bytes) => pieces.push(bytes));
  return () => ({
    ...members,
    headers: incoming.rawHeaders,
    body: Buffer.concat([...pieces, incoming.read() ?? Buffer.alloc(0)]).toString('latin1'),
    complete: incoming.complete,
  });
}

let seen;
const server = createServer({ requireHostHeader: true, insecureHTTPParser: false }, (incoming, outgoing) => {
  seen.messages.push(readingOf(incoming, { method: incoming.method, target: incoming.url }));
  incoming.on('end', () => outgoing.end());
});
server.on('clientError', (error) => {
  seen.error ??= error.code ?? String(error);
});
// Asking to be told is answered by Node itself otherwise.
server.on('checkContinue', (incoming, outgoing) => server.emit('request', incoming, outgoing));
server.on('checkExpectation', (incoming, outgoing) => server.emit('request', incoming, outgoing));

async function readRequest(bytes) {
  seen = { messages: [], error: undefined };
  const line = new Line();
  line.on('error', () => {});
  server.emit('connection', line);
  line.push(bytes);
  await settle();
  const { messages, error } = seen;
  const result = { messages: messages.map((read) => read()), error };
  line.destroy();
  return result;
}

async function readReply(bytes, method, closes) {
  const line = new Line();
  const found = { messages: [], error: undefined };
  const failed = (error) => {
    found.error ??= error.code ?? String(error);
  };
  line.on('error', failed);
  const agent = new Agent({ keepAlive: false });
  agent.createConnection = () => line;
  const asked = request({ method, host: 'x', agent, insecureHTTPParser: false });
  asked.on('error', failed);
  asked.on('upgrade', () => failed({ code: 'upgrade' }));
  asked.on('response', (incoming) => {
    incoming.on('error', failed);
    found.messages.push(readingOf(incoming, { status: incoming.statusCode }));
  });
  asked.end();
  await settle();
  line.push(bytes);
  await settle();
  if (closes) {
    line.push(null);
    await settle();
  }
  const result = { messages: found.messages.map((read) => read()), error: found.error };
  asked.destroy();
  line.destroy();
  return result;
}

for await (const text of createInterface({ input: process.stdin })) {
  const { bytes, reply } = JSON.parse(text);
  const raw = Buffer.from(bytes, 'latin1');
  const result = reply ? await readReply(raw, reply.method, reply.closes) : await readRequest(raw);
  process.stdout.write(`${JSON.stringify(result)}\n`);
}
