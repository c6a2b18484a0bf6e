/** The OpenAPI document is correct: its examples match its schemas, and the sandbox answers them as documented. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type GatewayProcess, startGateway } from '../helpers/gateway-process.ts';
import { type ApiDocument, type Content, faultsOf, operationsOf } from '../openapi/document.ts';
import { type Ran, REFUSED, readDocument, runOperations } from '../openapi/run.ts';

const RUN_TIMEOUT_MS = 120_000;

let gateway: GatewayProcess;
let document: ApiDocument;
let ran: Ran[];
beforeAll(async () => {
  gateway = await startGateway();
  document = await readDocument(gateway);
  ran = await runOperations(gateway, document);
}, RUN_TIMEOUT_MS);
afterAll(async () => {
  await gateway?.stop();
});

/** `undefined` without faults, so that a failure shows the details. */
const listed = (faults: { [place: string]: string[] }) =>
  Object.fromEntries(Object.entries(faults).filter(([, found]) => found.length > 0));

const faultsIn = (content: { [type: string]: Content } = {}) =>
  Object.values(content).flatMap(({ schema, example }) =>
    example === undefined ? [] : faultsOf(document, schema, example),
  );

describe('the document', () => {
  test('names every operation once, under a described tag', () => {
    const operations = operationsOf(document);
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    const tags = new Set(document.tags.map(({ name }) => name));
    expect(operations.filter(({ operation }) => operation.tags.some((tag) => !tags.has(tag)))).toEqual([]);
    expect(document.servers.length).toBeGreaterThan(0);
  });

  test('describes every request body, with an example', () => {
    const without = operationsOf(document)
      .filter(({ method }) => method === 'POST' || method === 'PUT' || method === 'PATCH')
      .filter(({ operation: { requestBody } }) => {
        const contents = Object.values(requestBody?.content ?? {});
        return !contents.some(({ example }) => example !== undefined);
      })
      .map(({ operation }) => operation.operationId);
    // These take no body.
    expect(without.toSorted()).toEqual(
      [
        'cancelResponse',
        'createLoginLink',
        'createOwnerLink',
        'disableAccount',
        'disableKey',
        'disablePerson',
        'enableAccount',
        'enableKey',
        'enablePerson',
        'resetTargetHealth',
        'rotateSecrets',
        'signPersonOut',
        'testAlertChannel',
      ].toSorted(),
    );
  });

  test('has an example of every response, as JSON, as a file and as an event', () => {
    const without = operationsOf(document)
      .filter(({ operation: { responses } }) => {
        const contents = Object.values(responses['200']?.content ?? {});
        return contents.length === 0 || contents.some(({ example }) => example === undefined);
      })
      .map(({ operation }) => operation.operationId);
    expect(without).toEqual([]);
  });

  test('describes every parameter', () => {
    const without = operationsOf(document).flatMap(({ operation: { operationId, parameters = [] } }) =>
      parameters.filter(({ description }) => !description).map(({ name }) => `${operationId}: ${name}`),
    );
    expect(without).toEqual([]);
  });

  test('has schemas that its examples match, without undocumented members', () => {
    const faults: { [place: string]: string[] } = {};
    for (const { operation } of operationsOf(document)) {
      faults[`${operation.operationId} request`] = faultsIn(operation.requestBody?.content);
      faults[`${operation.operationId} reply`] = faultsIn(operation.responses['200']?.content);
    }
    for (const [name, { content }] of Object.entries(document.components.responses)) faults[name] = faultsIn(content);
    expect(listed(faults)).toEqual({});
  });

  test('documents the errors of each family', () => {
    const families = operationsOf(document).map(({ path, operation: { responses } }) => [path, responses['4XX']?.$ref]);
    expect(families).toContainEqual(['/v1/chat/completions', '#/components/responses/OpenAiError']);
    expect(families).toContainEqual(['/v1/messages', '#/components/responses/AnthropicError']);
    expect(families).toContainEqual(['/v1/models/{model}:generateContent', '#/components/responses/GoogleError']);
    expect(families.filter(([, ref]) => ref === undefined)).toEqual([]);
  });
});

describe('the sandbox', () => {
  test('succeeds for every example', () => {
    const failed = ran.filter(({ status, operation }) => status >= 300 && !REFUSED[operation.operationId]);
    expect(
      failed.map(({ operation, status, body, type }) => ({ id: operation.operationId, status, type, body })),
    ).toEqual([]);
    const refused = ran.filter(({ status }) => status >= 300).map(({ operation }) => operation.operationId);
    expect(refused.toSorted()).toEqual(Object.keys(REFUSED).toSorted());
  });

  test('answers as documented, also with errors', () => {
    const faults: { [place: string]: string[] } = {};
    for (const { operation, status, body, type } of ran) {
      if (body === undefined) continue;
      const { $ref, content } = operation.responses[status < 300 ? '200' : '4XX'] ?? {};
      const described = $ref ? document.components.responses[$ref.split('/').at(-1) ?? '']?.content : content;
      const schema = described?.[type]?.schema;
      faults[operation.operationId] = schema ? faultsOf(document, schema, body) : [`answers ${type}`];
    }
    expect(listed(faults)).toEqual({});
  });

  test('sends the documented headers and no other, and the id of the request always', () => {
    const faults: { [place: string]: string[] } = {};
    for (const { operation, status, headers } of ran) {
      const { $ref, headers: own } = operation.responses[status < 300 ? '200' : '4XX'] ?? {};
      const described = $ref ? document.components.responses[$ref.split('/').at(-1) ?? '']?.headers : own;
      const missing = headers.includes('x-request-id') ? [] : ['has no x-request-id'];
      faults[operation.operationId] = [...missing, ...headers.filter((name) => !(name in (described ?? {})))];
    }
    expect(listed(faults)).toEqual({});
  });

  test('transcribes in every format with a documented media type', async () => {
    const types = new Set<string>();
    for (const format of ['json', 'text', 'srt', 'vtt', 'verbose_json']) {
      const form = new FormData();
      form.append('file', new Blob(['some audio']), 'speech.wav');
      form.append('model', 'sandbox-transcription');
      form.append('response_format', format);
      types.add(await typeOf('/v1/audio/transcriptions', gateway.apiKey, { method: 'POST', body: form }));
    }
    expect(describedTypes('/v1/audio/transcriptions', 'POST')).toEqual([...types].toSorted());
  });

  test('answers with each documented media type that `Accept` names', async () => {
    for (const path of ['/v1/usage', '/admin/v1/usage', '/admin/v1/calls']) {
      const types = describedTypes(path, 'GET');
      expect(types).toEqual(expect.arrayContaining(['application/json', 'application/x-ndjson', 'text/csv']));
      const key = path.startsWith('/admin') ? gateway.adminKey : gateway.apiKey;
      for (const accept of types) expect(await typeOf(path, key, { headers: { accept } })).toBe(accept);
    }
  });

  const describedTypes = (path: string, method: string): string[] => {
    const placed = operationsOf(document).find((one) => one.path === path && one.method === method);
    const types = Object.keys(placed?.operation.responses['200']?.content ?? {});
    return types.filter((type) => type !== 'text/event-stream').toSorted();
  };

  /** Rejects unless the response is a success. */
  async function typeOf(path: string, key: string, init: RequestInit): Promise<string> {
    const headers = { ...init.headers, authorization: `Bearer ${key}` };
    const response = await fetch(gateway.url + path, { ...init, headers });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    return response.headers.get('content-type')?.split(';')[0] ?? '';
  }

  test('streams where documented, with the documented events', () => {
    const faults: { [place: string]: string[] } = {};
    const streams = ran.filter(({ events }) => events);
    for (const { operation, events = [] } of streams) {
      const schema = operation.responses['200']?.content?.['text/event-stream']?.schema;
      const found = events.flatMap((event) => (schema ? faultsOf(document, schema, event) : ['no events']));
      faults[operation.operationId] = [...new Set(found.slice(0, 5)), ...(events.length === 0 ? ['no event'] : [])];
    }
    expect(listed(faults)).toEqual({});
    const described = operationsOf(document).filter(
      ({ operation: { responses } }) => responses['200']?.content?.['text/event-stream'],
    );
    expect(streams).toHaveLength(described.length);
  });
});
