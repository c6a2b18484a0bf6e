/** Unpacks what an upstream has compressed although it was asked not to. */
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import type { HeaderLines } from './header-lines.ts';
import type { BodyTaker, ReplyTaker, Source } from './reply-taker.ts';

const UNPACK = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/** The exchange itself where its bytes come plain, else what unpacks them for it. What is over-compressed waits packed. */
export function receiverFor(exchange: ReplyTaker, headers: HeaderLines, source: Source): BodyTaker {
  const encoding = headers.get('content-encoding')?.toLowerCase() ?? '';
  if (encoding === '' || encoding === 'identity') return exchange;
  if (!Object.hasOwn(UNPACK, encoding)) {
    exchange.broke(new Error(`the content-encoding ${encoding} is not known`));
    return exchange;
  }
  const unpacker = UNPACK[encoding as keyof typeof UNPACK]();
  let isArriving = true;
  unpacker.on('data', (bytes: Uint8Array) => exchange.push(bytes));
  unpacker.on('end', () => exchange.finish());
  unpacker.on('error', (cause) => exchange.broke(cause));
  exchange.from({
    pause() {
      unpacker.pause();
      if (isArriving) source.pause();
    },
    resume() {
      unpacker.resume();
      if (isArriving) source.resume();
    },
    stop() {
      unpacker.destroy();
      if (isArriving) source.stop();
    },
  });
  return {
    push: (bytes) => void unpacker.write(bytes),
    finish() {
      isArriving = false;
      unpacker.end();
    },
    broke(cause) {
      isArriving = false;
      exchange.broke(cause);
    },
  };
}
