/** Runs the examples of the OpenAPI document, one operation after another. */
import type { Json, JsonObject } from '../../src/canonical/json.ts';
import type { GatewayProcess } from '../helpers/gateway-process.ts';
import { type ApiDocument, operationsOf, type PlacedOperation } from './document.ts';

export interface Ran extends PlacedOperation {
  status: number;
  type: string;
  /** The response's headers of the gateway's own, by name. */
  headers: string[];
  /** Of a JSON response. */
  body?: Json;
  /** Of a stream. */
  events?: Json[];
}

/** Operations that are expected to be refused, because no example creates what they need. */
export const REFUSED: { readonly [id: string]: string } = {
  cancelResponse: 'no response is made in the background',
  settleDispute: 'no call is disputed',
  cancelPrice: 'no price is scheduled',
  setPrice: 'the model has another price version',
  getPayload: 'nothing is captured',
};

/** Operations that remove what others need run last. */
const LAST = new Set([
  'deleteResponse',
  'deleteVideo',
  'deleteProvider',
  'deleteModel',
  'deleteKey',
  'deletePriceGroup',
  'deletePerson',
  'deleteAlertChannel',
]);

/** Streams without an end, which have an event when a call has ended. */
const LIVE = new Set(['streamCalls']);

const VIDEO_TIMEOUT_MS = 60_000;

export async function readDocument({ url }: GatewayProcess): Promise<ApiDocument> {
  return (await (await fetch(`${url}/openapi.json`)).json()) as ApiDocument;
}

/**
 * Runs every operation once, and again as a stream if it has one. `isSettled`: records are read when no call is under way, which makes
 * them the same in every run.
 */
export async function runOperations(
  gateway: GatewayProcess,
  document: ApiDocument,
  { isSettled = false } = {},
): Promise<Ran[]> {
  const client = new Client(gateway, await gateway.newCaller('100.00'));
  const all = operationsOf(document);
  const isLast = ({ operation }: PlacedOperation) => LAST.has(operation.operationId);
  const deletions = all.filter(isLast);
  // A provider is deleted after its models.
  deletions.sort(
    (a, b) =>
      Number(a.operation.operationId === 'deleteProvider') - Number(b.operation.operationId === 'deleteProvider'),
  );
  const ran: Ran[] = [];
  const creations = all.filter(({ operation }) => CREATIONS[operation.operationId]);
  const others = all.filter((one) => !isLast(one) && !CREATIONS[one.operation.operationId]);
  for (const one of [...creations, ...others, ...deletions]) {
    if (isSettled && one.operation.operationId === 'getBalance') await client.untilSettled();
    ran.push(await client.run(one, false));
    if (hasStream(one) && !LIVE.has(one.operation.operationId)) ran.push(await client.run(one, true));
  }
  return ran;
}

function hasStream({ operation: { responses } }: PlacedOperation): boolean {
  return 'text/event-stream' in (responses['200']?.content ?? {});
}

/** What a response provides: parameters of later paths, by the beginning of the path. */
const CREATIONS: { readonly [id: string]: (made: JsonObject) => { [place: string]: string } } = {
  createResponse: ({ id }) => ({ '/v1/responses/': String(id) }),
  createVideo: ({ id }) =>
    Object.fromEntries(['/v1/videos/', '/v1/video/', '/kling/', '/vendor-a/'].map((place) => [place, String(id)])),
  createAccount: ({ id }) => ({ '/admin/v1/accounts/': String(id) }),
  createAlertChannel: ({ id }) => ({ '/admin/v1/alerts/channels/': String(id) }),
  createPerson: ({ id }) => ({ '/admin/v1/people/': String(id) }),
  createKey: ({ id }) => ({ '/admin/v1/keys/': String(id) }),
  createSpeech: () => ({}),
  createProvider: () => ({}),
  createModel: () => ({}),
  savePriceGroup: () => ({}),
};

class Client {
  readonly #gateway: GatewayProcess;
  readonly #key: string;
  readonly #made: { [place: string]: string } = {};
  #speech: Blob = new Blob();

  constructor(gateway: GatewayProcess, { key }: { key: string }) {
    this.#gateway = gateway;
    this.#key = key;
  }

  async run(placed: PlacedOperation, asStream: boolean): Promise<Ran> {
    const { operation } = placed;
    if (operation.operationId === 'getVideoContent') await this.#untilVideo();
    let response = await this.#ask(placed, asStream);
    // A request that continues in the background is repeated.
    for (; response.status === 202; response = await this.#ask(placed, asStream)) await Bun.sleep(100);
    const type = (response.headers.get('content-type') ?? '').split(';')[0] ?? '';
    const headers = [...response.headers.keys()].filter((name) =>
      /^(x-request-id|retry-after|x-modelport-.*)$/.test(name),
    );
    const ran = { ...placed, status: response.status, type, headers };
    if (LIVE.has(operation.operationId)) return { ...ran, events: eventsIn(await this.#untilEvent(response)) };
    if (type === 'text/event-stream') return { ...ran, events: eventsIn(await response.text()) };
    if (type !== 'application/json') {
      const bytes = await response.blob();
      if (operation.operationId === 'createSpeech') this.#speech = bytes;
      return ran;
    }
    const body = (await response.json()) as Json;
    if (response.ok) Object.assign(this.#made, CREATIONS[operation.operationId]?.(body as JsonObject));
    return { ...ran, body };
  }

  /** Resolves when no call is under way. */
  async untilSettled(): Promise<void> {
    for (const deadline = Date.now() + VIDEO_TIMEOUT_MS; Date.now() < deadline; await Bun.sleep(50)) {
      const { holds } = await this.#gateway.admin<{ holds: { open: number } }>('GET', '/overview');
      if (holds.open === 0) return;
    }
    throw new Error('The calls were not settled in time.');
  }

  async #untilEvent({ body }: Response): Promise<string> {
    const reader = body!.getReader();
    const decoder = new TextDecoder();
    let text = '';
    let isAsked = false;
    while (!/^data: .*\n\n/m.test(text)) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value);
      if (isAsked) continue;
      isAsked = true;
      const messages = [{ role: 'user', content: 'Hello' }];
      await fetch(`${this.#gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'sandbox-chat', messages }),
      });
    }
    await reader.cancel();
    return text;
  }

  async #ask(placed: PlacedOperation, asStream: boolean): Promise<Response> {
    return fetch(await this.#address(placed, asStream), {
      method: placed.method,
      headers: this.#headers(placed.operation.security, this.#isForm(placed)),
      ...(await this.#body(placed, asStream)),
    });
  }

  #isForm({ operation: { requestBody } }: PlacedOperation): boolean {
    return requestBody !== undefined && !('application/json' in requestBody.content);
  }

  #headers(security: readonly { [scheme: string]: unknown }[], isForm: boolean): { [name: string]: string } {
    const key = security.some((schemes) => 'admin' in schemes) ? this.#gateway.adminKey : this.#key;
    return {
      authorization: `Bearer ${security.length === 0 ? this.#gateway.adminKey : key}`,
      'anthropic-version': '2023-06-01',
      ...(!isForm && { 'content-type': 'application/json' }),
    };
  }

  async #body({ path, operation }: PlacedOperation, asStream: boolean): Promise<{ body?: string | FormData }> {
    const { content } = operation.requestBody ?? {};
    if (!content) return {};
    const json = content['application/json'];
    if (json) {
      if (json.example === undefined) return {};
      const body = { ...(json.example as JsonObject) };
      // A code can be redeemed only once.
      if (body.code !== undefined) body.code = await this.#newCode();
      if (asStream && operation.operationId === 'createSpeech') body.stream_format = 'sse';
      else if (asStream && !path.includes('Content')) body.stream = true;
      return { body: JSON.stringify(body) };
    }
    const form = new FormData();
    for (const [name, value] of Object.entries((content['multipart/form-data']?.example ?? {}) as JsonObject)) {
      if (name === 'file') form.append(name, this.#speech, 'speech.wav');
      else form.append(name, String(value));
    }
    if (asStream) form.append('stream', 'true');
    return { body: form };
  }

  async #newCode(): Promise<string> {
    const { code } = await this.#gateway.admin<{ code: string }>('POST', '/codes', { amount: '1.00' });
    return code;
  }

  async #address({ path, operation }: PlacedOperation, asStream: boolean): Promise<string> {
    const filled: { [name: string]: string } = {};
    const query = new URLSearchParams();
    for (const parameter of operation.parameters ?? []) {
      const { name, in: where, example } = parameter;
      if (where === 'path') filled[name] = (await this.#parameter(path)) ?? String(example);
      else if (where === 'query' && example !== undefined) query.set(name, String(example));
    }
    if (asStream && path.includes('streamGenerateContent')) query.set('alt', 'sse');
    else if (asStream && operation.operationId === 'getResponse') query.set('stream', 'true');
    const whole = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(filled[name] ?? ''));
    return `${this.#gateway.url}${whole}${query.size > 0 ? `?${query}` : ''}`;
  }

  async #parameter(path: string): Promise<string | undefined> {
    if (path === '/files/{file}') return (await this.#untilVideo()).split('/').at(-1);
    if (path.startsWith('/admin/v1/calls/') || path.startsWith('/v1/calls/')) {
      const { data } = await this.#gateway.admin<{ data: { id: string }[] }>('GET', '/calls?limit=1');
      return data[0]?.id;
    }
    const place = Object.keys(this.#made).find((one) => path.startsWith(one));
    return place === undefined ? undefined : this.#made[place];
  }

  /** Resolves with its URL when the video is finished. */
  async #untilVideo(): Promise<string> {
    const address = `${this.#gateway.url}/v1/video/generations/${this.#made['/v1/video/']}`;
    for (const deadline = Date.now() + VIDEO_TIMEOUT_MS; Date.now() < deadline; ) {
      const response = await fetch(address, { headers: { authorization: `Bearer ${this.#key}` } });
      const task = (await response.json()) as { status: string; url?: string };
      if (task.status === 'completed') return task.url ?? '';
      await Bun.sleep(100);
    }
    throw new Error('The video was not finished in time.');
  }
}

function eventsIn(stream: string): Json[] {
  return stream
    .split('\n')
    .filter((line) => line.startsWith('data:') && !line.includes('[DONE]'))
    .map((line) => JSON.parse(line.slice('data:'.length)) as Json);
}
