/** A Node process that parses messages for comparison. */

import type { Reading } from './compare.ts';
import type { ReplyCase } from './messages.ts';

export const node = Bun.which('node');

export interface NodePeer {
  readRequests(bytes: Buffer): Promise<Reading>;
  readReply(reply: ReplyCase): Promise<Reading>;
  close(): void;
}

/** `node`: the path of the program. */
export function startNode(program: string): NodePeer {
  const child = Bun.spawn([program, new URL('./node-peer.mjs', import.meta.url).pathname], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const waiting: ((reading: Reading) => void)[] = [];
  void (async () => {
    let rest = '';
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) waiting.shift()?.(JSON.parse(line) as Reading);
    }
  })();
  function ask(request: object): Promise<Reading> {
    child.stdin.write(`${JSON.stringify(request)}\n`);
    void child.stdin.flush();
    return new Promise((resolve) => waiting.push(resolve));
  }
  return {
    readRequests: (bytes) => ask({ bytes: bytes.toString('latin1') }),
    readReply: ({ text, method, closes }) => ask({ bytes: text, reply: { method, closes } }),
    close: () => child.kill(),
  };
}
