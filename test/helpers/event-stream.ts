/** Encodes messages of AWS's binary event stream: recordings contain only their payloads. */
import { crc32 } from 'node:zlib';

export function packMessage(headers: { [name: string]: string }, payload: string | Uint8Array): Buffer {
  const body = Buffer.from(payload);
  const head = Buffer.concat(
    Object.entries(headers).map(([name, value]) => {
      const sizes = Buffer.alloc(3);
      sizes.writeUInt8(7);
      sizes.writeUInt16BE(Buffer.byteLength(value), 1);
      return Buffer.concat([Buffer.from([Buffer.byteLength(name)]), Buffer.from(name), sizes, Buffer.from(value)]);
    }),
  );
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(12 + head.length + body.length + 4);
  prelude.writeUInt32BE(head.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const whole = Buffer.concat([prelude, head, body]);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(whole));
  return Buffer.concat([whole, checksum]);
}

export function packEvent(type: string, payload: object): Buffer {
  const headers = { ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' };
  return packMessage(headers, JSON.stringify(payload));
}

export function packException(type: string, message: string): Buffer {
  const headers = { ':exception-type': type, ':content-type': 'application/json', ':message-type': 'exception' };
  return packMessage(headers, JSON.stringify({ message }));
}

/** One event of a model's own format in Bedrock's envelope. */
export function packChunk(event: object | string): Buffer {
  const text = typeof event === 'string' ? event : JSON.stringify(event);
  return packEvent('chunk', { bytes: Buffer.from(text).toString('base64'), p: 'abc' });
}
