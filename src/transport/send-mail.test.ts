/** E-mail against servers that do not behave. */
import { afterAll, expect, test } from 'bun:test';
import { createServer, type Server, type Socket } from 'node:net';
import { type Mail, sendMail } from './send-mail.ts';

const MAIL: Mail = { messageId: '<m@test>', from: 'a@example.test', to: ['b@example.test'], subject: 's', text: 't' };
const servers: Server[] = [];
const sockets = new Set<Socket>();
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers) server.close();
});

/** `greeted`: what is done with each connection. */
async function startServer(greeted: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    greeted(socket);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('It has no port.');
  return `smtp://ops:p%40ssword@127.0.0.1:${address.port}`;
}

/** Lines of a reply that has no end: no pause is long enough for a limit of inactivity. */
async function startDripping(): Promise<string> {
  return startServer((socket) => {
    socket.write('220 test\r\n');
    const dripping = setInterval(() => socket.write('250-more\r\n'), 2);
    socket.on('close', () => clearInterval(dripping));
  });
}

const NEVER = new AbortController().signal;
const allClosed = async () => {
  for (const end = Date.now() + 30_000; sockets.size > 0; await Bun.sleep(1))
    if (Date.now() > end) throw new Error('A connection is still open.');
};

test('a server that sends a line now and then is given up in time, with its connection', async () => {
  const server = await startDripping();
  await expect(sendMail(server, MAIL, 100, NEVER)).rejects.toThrow('did not take the mail within 100 ms');
  await allClosed();
});

test('a mail that is being sent is given up at once', async () => {
  const server = await startDripping();
  const giving = new AbortController();
  const sending = sendMail(server, MAIL, 60_000, giving.signal);
  giving.abort();
  await expect(sending).rejects.toThrow();
  await allClosed();
});

test('an error does not repeat the password that a server sends back', async () => {
  const server = await startServer((socket) => {
    socket.write('220 test\r\n');
    socket.on('data', (chunk: Buffer) => {
      const line = chunk.toString();
      if (line.startsWith('EHLO')) socket.write('250-test\r\n250 AUTH PLAIN\r\n');
      else {
        const credentials = line.trim().split(' ')[2] ?? '';
        const decoded = Buffer.from(credentials, 'base64').toString().split('\0').join(' ');
        socket.write(`535 no ${credentials} (${decoded})\r\n`);
      }
    });
  });
  const error = await sendMail(server, MAIL, 30_000, NEVER).catch((thrown: Error) => thrown);
  expect(String(error)).toContain('535');
  expect(String(error)).not.toContain('p@ssword');
  expect(String(error)).not.toContain(Buffer.from('\0ops\0p@ssword').toString('base64'));
});
