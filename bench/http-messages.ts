/** Splits a connection's bytes into HTTP/1.1 messages, as far as the mock upstream and the load generator need it. */

export interface MessageSink {
  /** The start line and the headers. */
  head(head: string): void;
  body(bytes: Buffer): void;
  end(): void;
}

type State = 'head' | 'sized' | 'chunk-size' | 'chunk' | 'chunk-end' | 'trailer';

const LENGTH = /\r\ncontent-length: *(\d+)/i;
const CHUNKED = /\r\ntransfer-encoding: *chunked/i;
const NEEDS_MORE = -1;

/** Takes bytes as they arrive, of requests or replies. */
export function messageCutter(sink: MessageSink): (bytes: Buffer) => void {
  let state: State = 'head';
  let left = 0;
  let carry: Buffer | undefined;

  /** Parses from `at`: returns the next position, or NEEDS_MORE. */
  function step(bytes: Buffer, at: number): number {
    switch (state) {
      case 'head': {
        const end = bytes.indexOf('\r\n\r\n', at);
        if (end === -1) return NEEDS_MORE;
        openBody(bytes.toString('latin1', at, end));
        return end + 4;
      }
      case 'sized':
      case 'chunk': {
        const end = Math.min(bytes.length, at + left);
        left -= end - at;
        sink.body(bytes.subarray(at, end));
        if (left === 0 && state === 'chunk') state = 'chunk-end';
        else if (left === 0) finish();
        return end;
      }
      case 'chunk-end':
        if (bytes.length - at < 2) return NEEDS_MORE;
        state = 'chunk-size';
        return at + 2;
      case 'chunk-size': {
        const end = bytes.indexOf('\r\n', at);
        if (end === -1) return NEEDS_MORE;
        left = Number.parseInt(bytes.toString('latin1', at, end), 16);
        state = left === 0 ? 'trailer' : 'chunk';
        return end + 2;
      }
      case 'trailer': {
        const end = bytes.indexOf('\r\n', at);
        if (end === -1) return NEEDS_MORE;
        if (end === at) finish();
        return end + 2;
      }
      default:
        return state satisfies never;
    }
  }

  function openBody(head: string): void {
    sink.head(head);
    left = Number(LENGTH.exec(head)?.[1] ?? 0);
    if (CHUNKED.test(head)) state = 'chunk-size';
    else if (left > 0) state = 'sized';
    else finish();
  }

  function finish(): void {
    state = 'head';
    sink.end();
  }

  return (bytes) => {
    const all = carry ? Buffer.concat([carry, bytes]) : bytes;
    carry = undefined;
    for (let at = 0; at < all.length; ) {
      const next = step(all, at);
      if (next === NEEDS_MORE) {
        carry = Buffer.from(all.subarray(at));
        return;
      }
      at = next;
    }
  };
}
