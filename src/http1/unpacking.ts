/** Decompresses replies that an upstream compressed although uncompressed data was requested. */
import type { HeaderLines } from './header-lines.ts';
import type { BodyTaker, ReplyTaker, Source } from './reply-taker.ts';

/** Loaded when it is first needed: loading it takes 7 ms of the start. */
const zlib = () => process.getBuiltinModule('node:zlib');
const UNPACK = {
  gzip: () => zlib().createGunzip(),
  'x-gzip': () => zlib().createGunzip(),
  deflate: () => zlib().createInflate(),
  br: () => zlib().createBrotliDecompress(),
  zstd: () => zlib().createZstdDecompress(),
};

/** No ordinary text compresses better than this; small replies may. */
const MAX_RATIO = 200;
const FREE_BYTES = 1024 * 1024;
const MAX_UNPACKED_BYTES = 256 * 1024 * 1024;

/** The exchange itself for plain bytes, otherwise a decompressor in front of it. Suspicious data is not decompressed further. */
export function receiverFor(exchange: ReplyTaker, headers: HeaderLines, source: Source): BodyTaker {
  const encoding = headers.get('content-encoding')?.toLowerCase() ?? '';
  if (encoding === '' || encoding === 'identity') return exchange;
  if (!Object.hasOwn(UNPACK, encoding)) {
    exchange.broke(new Error(`the content-encoding ${encoding} is not supported`));
    return exchange;
  }
  const unpacker = UNPACK[encoding as keyof typeof UNPACK]();
  let isArriving = true;
  let packedBytes = 0;
  let unpackedBytes = 0;
  unpacker.on('data', (bytes: Uint8Array) => {
    unpackedBytes += bytes.length;
    const bound = Math.min(MAX_UNPACKED_BYTES, Math.max(FREE_BYTES, packedBytes * MAX_RATIO));
    if (unpackedBytes <= bound) {
      exchange.push(bytes);
      return;
    }
    unpacker.destroy();
    exchange.broke(new Error(`${packedBytes} bytes of ${encoding} decompress to more than ${bound}`));
  });
  unpacker.on('end', () => exchange.finish());
  unpacker.on('error', (cause) => exchange.broke(cause));
  let isPaused = false;
  let isBehind = false;
  unpacker.on('drain', () => {
    isBehind = false;
    if (isArriving && !isPaused) source.resume();
  });
  exchange.from({
    pause() {
      isPaused = true;
      unpacker.pause();
      if (isArriving) source.pause();
    },
    resume() {
      isPaused = false;
      unpacker.resume();
      if (isArriving && !isBehind) source.resume();
    },
    stop() {
      unpacker.destroy();
      if (isArriving) source.stop();
    },
  });
  return {
    push(bytes) {
      packedBytes += bytes.length;
      if (unpacker.write(bytes) || isBehind) return;
      isBehind = true;
      if (!isPaused) source.pause();
    },
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
