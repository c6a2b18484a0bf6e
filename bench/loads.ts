/** The loads of the benchmark: what is sent to a gateway in each measurement. */
import type { Load } from './load.ts';
import type { Endpoint } from './running.ts';
import { type Pace, writeRequest } from './workload.ts';

const LATE_MS = 50;

function loadOf({ port, path, headers }: Endpoint, shape: Load['shape'], pace?: Pace): Load {
  return { port, path, headers, body: writeRequest(pace), shape, lateMs: LATE_MS };
}

const CONNECTIONS = 32;

/** Each connection asks again as soon as it has its answer. */
export const closedLoad = (endpoint: Endpoint, seconds: number): Load =>
  loadOf(endpoint, { type: 'closed', connections: CONNECTIONS, seconds });

const REQUESTS_PER_SECOND = 200;

export const pacedLoad = (endpoint: Endpoint, seconds: number): Load =>
  loadOf(endpoint, { type: 'paced', perSecond: REQUESTS_PER_SECOND, seconds });

const STREAMS_PER_SECOND = 100;
const SHORT_STREAM: Pace = { chunks: 3, everyMs: 5 };

export const shortStreams = (endpoint: Endpoint, seconds: number): Load =>
  loadOf(endpoint, { type: 'paced', perSecond: STREAMS_PER_SECOND, seconds }, SHORT_STREAM);

/** Of the streams whose chunks are counted. */
export const CHUNK_EVERY_MS = 5;

/** This number of concurrent streams, each as long as the requested time. */
export function heldStreams(endpoint: Endpoint, streams: number, everyMs: number, seconds: number): Load {
  const shape = { type: 'once', connections: streams, boundSeconds: seconds * 3 + 5 } as const;
  return loadOf(endpoint, shape, { chunks: Math.ceil((seconds * 1000) / everyMs), everyMs });
}
