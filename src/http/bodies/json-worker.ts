/** The worker thread that parses large JSON bodies, so that the main thread is not blocked. */
import type { Json } from '../../canonical/json.ts';
import { whyNoJson } from '../../canonical/json-fault.ts';
import { type JsonBounds, type JsonExcess, scanJson } from './json-scan.ts';

declare const self: Worker;

export interface ParseRequest {
  id: number;
  /** Transferred to the worker, and back with the result. */
  bytes: Uint8Array;
  bounds: JsonBounds;
}

export interface ParseResult {
  id: number;
  bytes: Uint8Array;
  result: { value: Json } | { excess: JsonExcess } | { broken: string };
}

const decoder = new TextDecoder('utf-8', { fatal: true });

self.onmessage = ({ data: { id, bytes, bounds } }: MessageEvent<ParseRequest>) => {
  self.postMessage({ id, bytes, result: parse(bytes, bounds) } satisfies ParseResult, [bytes.buffer as ArrayBuffer]);
};

function parse(bytes: Uint8Array, bounds: JsonBounds): ParseResult['result'] {
  const excess = scanJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), bounds);
  if (excess) return { excess };
  try {
    return { value: JSON.parse(decoder.decode(bytes)) as Json };
  } catch {
    return { broken: whyNoJson(bytes) };
  }
}
