/** A client that disconnects according to its plan, on its own connection, and what it has received by then. */
import { connect, type Socket } from 'node:net';
import type { Plan } from './plan.ts';
import { WORD } from './plan.ts';

export interface Seen {
  status: number | undefined;
  requestId: string | undefined;
  words: number;
  /** It got the finish reason of every choice. */
  finish: boolean;
  /** It has a complete and valid answer. */
  complete: boolean;
  /** It disconnected before the answer was complete. */
  left: boolean;
  /** The whole request was passed to the system. */
  sent: boolean;
  text: string;
}

const PATIENCE_MS = 40_000;

/** Resolves when the client has its answer or the connection is closed by either side. */
export async function send(url: string, key: string, plan: Plan): Promise<Seen> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  let text = '';
  let left = false;
  let sent = false;
  const leave = () => {
    left = true;
    socket.destroy();
  };
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  socket.on('error', () => {});
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1');
    if (isTimeToLeave(plan, text)) leave();
  });
  const late = setTimeout(leave, PATIENCE_MS);
  socket.on('connect', () => {
    sent = say(socket, key, plan);
    if (!sent || plan.client === 'before-first-byte') setTimeout(leave, plan.leaveMs);
  });
  await closed;
  clearTimeout(late);
  return { ...readAnswer(text, plan), left, sent, text };
}

/** Sends the request. Returns whether it was sent completely: a client that disconnects before sends half of its body. */
function say(socket: Socket, key: string, { path, body, client }: Plan): boolean {
  const head = [
    `POST ${path} HTTP/1.1`,
    'host: 127.0.0.1',
    'connection: close',
    'content-type: application/json',
    'anthropic-version: 2023-06-01',
    `authorization: Bearer ${key}`,
    `content-length: ${body.length}`,
  ];
  const isWhole = client !== 'before-sent';
  socket.write(`${head.join('\r\n')}\r\n\r\n${isWhole ? body : body.slice(0, body.length / 2)}`);
  return isWhole;
}

function isTimeToLeave({ client, words }: Plan, text: string): boolean {
  if (client === 'mid-stream') return wordsIn(text) > words / 2;
  return client === 'after-finish' && hasFinish(text);
}

/** Counts words in a stream; each is in a member of its own. */
const wordsIn = (text: string): number => text.split(`"${WORD}"`).length - 1;
const hasFinish = (text: string): boolean => text.includes('"finish_reason":"stop"');

function readAnswer(
  text: string,
  { stream, path }: Plan,
): Pick<Seen, 'status' | 'requestId' | 'words' | 'finish' | 'complete'> {
  const status = Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]) || undefined;
  const requestId = /^x-request-id: (\S+)\r$/im.exec(text)?.[1];
  const bodyAt = text.indexOf('\r\n\r\n');
  const body = bodyAt < 0 ? '' : text.slice(bodyAt + 4);
  const end = path === '/v1/messages' ? 'event: message_stop' : 'data: [DONE]';
  const isWhole = stream
    ? body.includes(end)
    : body.length >= Number(/^content-length: (\d+)/im.exec(text)?.[1] ?? Infinity);
  return {
    status,
    requestId,
    words: wordsIn(body),
    finish: stream && hasFinish(body),
    complete: status === 200 && isWhole,
  };
}
