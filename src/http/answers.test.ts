import { describe, expect, test } from 'bun:test';
import { GET, open, serve, troubles } from '../../test/helpers/raw-client.ts';
import { answerResponse } from './answers.ts';

describe('a body with content-length', () => {
  const BYTES = Buffer.from(Array.from({ length: 1 << 20 }, (_, n) => `line ${n}`.padEnd(16)).join(''));
  const PIECE = 100_000;

  /** Sends the bytes in pieces. Fails before `until`. */
  function streamed(until = BYTES.length, log: string[] = []): Response {
    let at = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        log.push('piece');
        const from = at;
        at += PIECE;
        if (from >= BYTES.length) controller.close();
        else if (from >= until) controller.error(new Error('the disk is gone'));
        else controller.enqueue(BYTES.subarray(from, at));
      },
      cancel: () => void log.push('cancelled'),
    });
    return new Response(body, { headers: { 'content-length': String(BYTES.length) } });
  }

  test('is sent as fast as the client reads, every byte once', async () => {
    const log: string[] = [];
    const { socket } = await open(serve(() => answerResponse(streamed(BYTES.length, log))));
    socket.pause();
    const pieces: Buffer[] = [];
    socket.on('data', (bytes: Buffer) => void pieces.push(bytes));
    socket.write(GET.replaceAll('\n', '\r\n'));
    await Bun.sleep(300);
    expect(log.length).toBeLessThan(BYTES.length / PIECE);
    socket.resume();
    const length = () => pieces.reduce((sum, piece) => sum + piece.length, 0);
    for (const end = performance.now() + 30_000; length() < BYTES.length && performance.now() < end; )
      await Bun.sleep(5);
    await Bun.sleep(20);
    const all = Buffer.concat(pieces);
    expect(all.subarray(all.indexOf('\r\n\r\n') + 4).equals(BYTES)).toBe(true);
    socket.destroy();
  });

  test('whose source fails leaves an incomplete response, and the operator gets an error', async () => {
    const line = await open(serve(() => answerResponse(streamed(3 * PIECE))));
    line.say(GET);
    expect((await line.closed()).length).toBeLessThan(BYTES.length);
    expect(troubles.splice(0)).toEqual(['A connection failed. the disk is gone']);
  });

  test('whose client disconnects, or which is not sent, cancels its source', async () => {
    const log: string[] = [];
    const server = serve(() => answerResponse(streamed(BYTES.length, log)));
    const leaving = await open(server);
    leaving.socket.pause();
    leaving.socket.write(GET.replaceAll('\n', '\r\n'));
    await Bun.sleep(200);
    leaving.socket.destroy();
    const heading = await open(server);
    heading.say('HEAD /a HTTP/1.1\nhost: x\n\n');
    expect(await heading.ends('\n\n')).toContain(`content-length: ${BYTES.length}`);
    for (
      const end = performance.now() + 30_000;
      log.filter((one) => one === 'cancelled').length < 2;
      await Bun.sleep(5)
    )
      if (performance.now() > end) break;
    expect(log.filter((one) => one === 'cancelled')).toHaveLength(2);
    heading.socket.destroy();
  });
});
