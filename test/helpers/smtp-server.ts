/** For tests: an SMTP server on loopback (RFC 5321, with AUTH PLAIN) that keeps what it gets. */
import { createServer, type Socket } from 'node:net';

export interface ReceivedMail {
  from: string;
  to: string[];
  /** Headers and text as sent. */
  data: string;
  user?: string;
}

export interface SmtpServer {
  readonly port: number;
  readonly mails: ReceivedMail[];
  /** The reply to the next mail instead of 250. */
  refuseNext(reply: string): void;
  stop(): void;
}

export async function startSmtpServer(): Promise<SmtpServer> {
  const mails: ReceivedMail[] = [];
  const sockets = new Set<Socket>();
  let refusal: string | undefined;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    converse(socket, (mail) => {
      const reply = refusal;
      refusal = undefined;
      if (reply === undefined) mails.push(mail);
      return reply ?? '250 taken';
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('It has no port.');
  return {
    port: address.port,
    mails,
    refuseNext(reply) {
      refusal = reply;
    },
    stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** One connection: a line at a time, the text of a mail up to its final dot. */
function converse(socket: Socket, take: (mail: ReceivedMail) => string): void {
  let buffered = '';
  let mail: ReceivedMail = { from: '', to: [], data: '' };
  let user: string | undefined;
  let isData = false;
  const say = (line: string) => void socket.write(`${line}\r\n`);

  function command(line: string): void {
    const [word = ''] = line.toUpperCase().split(' ');
    const [, address = ''] = /<([^>]*)>/.exec(line) ?? [];
    if (word === 'EHLO') say('250-test\r\n250 AUTH PLAIN');
    else if (word === 'AUTH') {
      [, user] = Buffer.from(line.split(' ')[2] ?? '', 'base64')
        .toString()
        .split('\0');
      say('235 known');
    } else if (word === 'MAIL') {
      mail = { from: address, to: [], data: '', ...(user !== undefined && { user }) };
      say('250 ok');
    } else if (word === 'RCPT') {
      mail.to.push(address);
      say('250 ok');
    } else if (word === 'DATA') {
      isData = true;
      say('354 go on');
    } else if (word === 'QUIT') {
      say('221 bye');
      socket.end();
    } else say('250 ok');
  }

  say('220 test');
  socket.on('data', (chunk: Buffer) => {
    buffered += chunk.toString();
    for (;;) {
      const end = buffered.indexOf(isData ? '\r\n.\r\n' : '\r\n');
      if (end < 0) return;
      const text = buffered.slice(0, end);
      buffered = buffered.slice(end + (isData ? 5 : 2));
      if (!isData) command(text);
      else {
        isData = false;
        say(take({ ...mail, data: text }));
      }
    }
  });
}
