/** For tests: a local S3-compatible object store that verifies signatures and enforces the limits of S3. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verifySignature } from './signature-v4.ts';

export interface Bucket {
  /** `http://127.0.0.1:port` */
  readonly endpoint: string;
  readonly settings: { bucket: string; region: string; accessKeyId: string; secretAccessKey: string };
  /** Its objects by key. */
  readonly objects: ReadonlyMap<string, Uint8Array>;
  /** Multipart uploads that were neither completed nor aborted. */
  readonly openUploads: number;
  /** Method, path with query, and response status of each request. */
  readonly journal: readonly { method: string; path: string; status: number }[];
  /** Answers every request with this status from now on; `undefined` ends that. */
  fail(status: number | undefined): void;
  close(): Promise<void>;
}

interface Upload {
  key: string;
  parts: Map<number, Uint8Array>;
}

interface Reply {
  status: number;
  headers?: { [name: string]: string };
  body?: Uint8Array | string;
}

/** The minimum size of a part, except the last. */
const SMALLEST_PART = 5 << 20;
/** Names per page of a listing: few, so that tests get several pages. */
const PAGE = 3;
const SETTINGS = { bucket: 'videos', region: 'eu-test-1', accessKeyId: 'AKIDTEST', secretAccessKey: 'not-a-secret' };

export async function startBucket(): Promise<Bucket> {
  const objects = new Map<string, Uint8Array>();
  const uploads = new Map<string, Upload>();
  const journal: { method: string; path: string; status: number }[] = [];
  let failing: number | undefined;
  let lastUpload = 0;

  function post(key: string, query: URLSearchParams, id: string): Reply {
    if (query.has('uploads')) {
      const uploadId = `upload-${++lastUpload}`;
      uploads.set(uploadId, { key, parts: new Map() });
      const xml = `<Bucket>${SETTINGS.bucket}</Bucket><Key>${key}</Key><UploadId>${uploadId}</UploadId>`;
      return { status: 200, body: `<InitiateMultipartUploadResult>${xml}</InitiateMultipartUploadResult>` };
    }
    const upload = uploads.get(id);
    if (!upload) return refused(404, 'NoSuchUpload');
    const parts = [...upload.parts].sort(([a], [b]) => a - b).map(([, bytes]) => bytes);
    if (parts.slice(0, -1).some(({ length }) => length < SMALLEST_PART)) return refused(400, 'EntityTooSmall');
    uploads.delete(id);
    objects.set(key, Buffer.concat(parts));
    return { status: 200, body: `<CompleteMultipartUploadResult><Key>${key}</Key></CompleteMultipartUploadResult>` };
  }

  function put(key: string, query: URLSearchParams, id: string, body: Uint8Array): Reply {
    const etag = `"${Bun.hash(body).toString(16)}"`;
    if (!query.has('partNumber')) objects.set(key, body);
    else if (uploads.has(id)) uploads.get(id)?.parts.set(Number(query.get('partNumber')), body);
    else return refused(404, 'NoSuchUpload');
    return { status: 200, headers: { etag } };
  }

  function get(key: string, range: string | undefined, withBody: boolean): Reply {
    const whole = objects.get(key);
    if (!whole) return refused(404, 'NoSuchKey');
    const [, first = '0', last = ''] = /^bytes=(\d+)-(\d*)$/.exec(range ?? '') ?? [];
    const end = last === '' ? whole.length : Math.min(Number(last) + 1, whole.length);
    const part = whole.subarray(Number(first), end);
    const headers: { [name: string]: string } = { 'content-length': String(part.length), etag: '"whole"' };
    if (range !== undefined) headers['content-range'] = `bytes ${first}-${end - 1}/${whole.length}`;
    return { status: range === undefined ? 200 : 206, headers, ...(withBody && { body: part }) };
  }

  /** A page of names in alphabetical order. */
  function list(query: URLSearchParams): Reply {
    const [prefix, after] = [query.get('prefix') ?? '', query.get('start-after') ?? ''];
    const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
    const page = keys.slice(0, PAGE).map((key) => `<Contents><Key>${key}</Key><Size>1</Size></Contents>`);
    const head = `<Name>${SETTINGS.bucket}</Name><KeyCount>${page.length}</KeyCount><MaxKeys>${PAGE}</MaxKeys>`;
    const truncated = `<IsTruncated>${keys.length > PAGE}</IsTruncated>`;
    return { status: 200, body: `<ListBucketResult>${head}${truncated}${page.join('')}</ListBucketResult>` };
  }

  function answer(request: IncomingMessage, body: Uint8Array): Reply {
    const { method = '', url = '' } = request;
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const { ok, scope } = verifySignature({ method, path: url, headers, body }, SETTINGS.secretAccessKey);
    if (!ok || !scope.endsWith(`/${SETTINGS.region}/s3/aws4_request`)) return refused(403, 'SignatureDoesNotMatch');
    if (failing !== undefined) return refused(failing, 'InternalError');
    const { pathname, searchParams: query } = new URL(url, 'http://bucket');
    if (method === 'GET' && query.get('list-type') === '2') return list(query);
    const key = pathname.slice(`/${SETTINGS.bucket}/`.length);
    if (!pathname.startsWith(`/${SETTINGS.bucket}/`)) return refused(404, 'NoSuchBucket');
    const id = query.get('uploadId') ?? '';
    switch (method) {
      case 'POST':
        return post(key, query, id);
      case 'PUT':
        return put(key, query, id, body);
      case 'GET':
      case 'HEAD':
        return get(key, headers.range, method === 'GET');
      case 'DELETE':
        if (id === '') objects.delete(key);
        else uploads.delete(id);
        return { status: 204 };
      default:
        return refused(405, 'MethodNotAllowed');
    }
  }

  const server = createServer(async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const reply = answer(request, Buffer.concat(chunks));
    journal.push({ method: request.method ?? '', path: request.url ?? '', status: reply.status });
    send(response, reply);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    settings: SETTINGS,
    objects,
    get openUploads() {
      return uploads.size;
    },
    journal,
    fail(status) {
      failing = status;
    },
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function refused(status: number, code: string): Reply {
  return {
    status,
    headers: { 'content-type': 'application/xml' },
    body: `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`,
  };
}

function send(response: ServerResponse, { status, headers, body }: Reply): void {
  response.writeHead(status, headers);
  response.end(body);
}
