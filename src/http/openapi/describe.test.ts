import { describe, expect, test } from 'bun:test';
import { PERMISSIONS, type Permission } from '../../access/permissions.ts';
import { route } from '../route.ts';
import { ANSWERED_ROUTES, RELAYED_ROUTES } from '../routes.ts';
import { describeRoutes, OPERATIONS, shownPath } from './describe.ts';

const open = (path: string) => route('GET', path, { gate: 'open', summary: 'Of the edge itself.', answer: () => ({}) });
const ROWS = [...RELAYED_ROUTES, ...ANSWERED_ROUTES, open('/metrics'), open('/openapi.json')];

interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  security: { [scheme: string]: string[] }[];
  parameters?: { name: string; in: string }[];
  responses: { [status: string]: object };
  'x-permission'?: string;
}
interface Schema {
  $ref?: string;
  anyOf?: Schema[];
  properties?: { [member: string]: Schema };
  const?: string;
}
interface Described {
  info: { license: object };
  servers: { url: string }[];
  tags: { name: string; description: string }[];
  paths: { [path: string]: { [method: string]: Operation } };
  components: { securitySchemes: object; schemas: { [name: string]: Schema } };
}
const described = describeRoutes(ROWS, { version: '1.2.3' }) as Described;
const operations = Object.entries(described.paths).flatMap(([path, methods]) =>
  Object.values(methods).map((operation) => ({ path, ...operation })),
);

test('every route has an operation and every operation a route', () => {
  const routes = new Set(ROWS.map((row) => `${row.method} ${shownPath(row)}`));
  expect(Object.keys(OPERATIONS).filter((one) => !routes.has(one))).toEqual([]);
  const ids = new Set(Object.values(OPERATIONS).map(({ id }) => id));
  expect(operations.filter(({ operationId }) => !ids.has(operationId)).map(({ path }) => path)).toEqual([]);
  const { paths } = describeRoutes([open('/not/yet-known')], { version: '1' }) as Described;
  expect(paths['/not/yet-known']?.get?.operationId).toBe('getNotYetKnown');
});

/** The recommended rules of Redocly, except those for examples: `test/e2e/openapi.test.ts` runs the examples. */
test("the document follows Redocly's recommended rules", () => {
  const schemes = Object.keys(described.components.securitySchemes);
  for (const { path, operationId, summary, tags, security, parameters = [], responses } of operations) {
    expect(operationId).toMatch(/^[a-z][A-Za-z0-9]+$/);
    expect(summary).toMatch(/^[A-Z`].*\.$/s);
    expect(tags).toHaveLength(1);
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['200', '4XX', '5XX']));
    expect(security.flatMap((one) => Object.keys(one)).filter((scheme) => !schemes.includes(scheme))).toEqual([]);
    const inPath = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => `{${name}}`);
    expect([...path.matchAll(/\{\w+\}/g)].map(([found]) => found)).toEqual(inPath);
    expect(new Set(parameters.map((parameter) => `${parameter.in} ${parameter.name}`)).size).toBe(parameters.length);
    expect(path === '/' || !path.endsWith('/')).toBe(true);
  }
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
  const used = new Set(operations.flatMap(({ tags }) => tags));
  expect(described.tags.map(({ name }) => name).toSorted()).toEqual([...used].toSorted());
  expect(described.info.license).toBeDefined();
});

test('every operation of the admin API names its permission, and no other does', () => {
  for (const { path, 'x-permission': permission } of operations) {
    if (path.startsWith('/admin/')) expect(PERMISSIONS).toContain(permission as Permission);
    else expect(permission).toBeUndefined();
  }
});

test('the server is the configured public URL, or the URL of the document', () => {
  expect(described.servers[0]?.url).toBe('/');
  const known = describeRoutes([], { version: '1', url: 'https://models.example' }) as Described;
  expect(known.servers[0]?.url).toBe('https://models.example');
});

test('members of requests say what they mean, then what is checked', () => {
  const { ChatCompletionRequest, MessagesRequest, GenerationConfig } = described.components.schemas;
  expect(ChatCompletionRequest?.properties).toMatchObject({
    temperature: { description: 'The randomness of the answer. A number from 0 to 2. Default: `1`.' },
    user: { description: 'An id of your end user. A string.' },
    // The schema has its own sentence.
    n: { description: 'The number of answers. Default: `1`.' },
  });
  expect(MessagesRequest?.properties?.top_k).toMatchObject({ description: expect.stringContaining('likeliest') });
  expect(GenerationConfig?.properties?.topP).toMatchObject({ description: expect.stringContaining('likeliest') });
});

test('operations declare their headers', () => {
  const headersOf = (id: string) => {
    const { parameters = [] } = operations.find(({ operationId }) => operationId === id) ?? {};
    return parameters.filter((parameter) => parameter.in === 'header');
  };
  const names = (id: string) => headersOf(id).map(({ name }) => name);
  expect(names('createChatCompletion')).toEqual(['x-modelport-strict', 'x-modelport-tags']);
  for (const id of ['createMessage', 'countMessageTokens'])
    expect(headersOf(id)).toContainEqual(expect.objectContaining({ name: 'anthropic-version', required: true }));
  for (const id of ['createVideo', 'createKlingTextToVideo', 'topUp', 'refund', 'adjust', 'createCode'])
    expect(names(id)).toContain('idempotency-key');
  for (const id of ['getVideoContent', 'getFile']) {
    expect(names(id)).toContain('range');
    expect(operations.find(({ operationId }) => operationId === id)?.responses).toHaveProperty('206');
  }
  expect(names('listAccounts')).toEqual([]);
});

test('operations that stream declare it with event schemas', () => {
  const streaming = operations.filter(({ responses }) => JSON.stringify(responses[200]).includes('text/event-stream'));
  expect(streaming.map(({ operationId }) => operationId).toSorted()).toEqual(
    [
      ...['createChatCompletion', 'createCompletion', 'createMessage', 'createResponse', 'getResponse'],
      ...['createImage', 'editImage', 'createSpeech', 'createTranscription', 'createTranslation'],
      ...['streamCalls', 'streamGenerateContent', 'streamGenerateContentV1'],
    ].toSorted(),
  );
});

describe('generators of clients', () => {
  const { schemas } = described.components;

  test('find a name for each alternative of a schema', () => {
    const unnamed = Object.entries(schemas).flatMap(([name, { anyOf = [] }]) =>
      anyOf.flatMap(({ properties }) => properties?.type?.const ?? []).map((type) => `${name}: ${type}`),
    );
    expect(unnamed).toEqual([]);
    expect(schemas.ChatContentPart?.anyOf?.[0]).toEqual({ $ref: '#/components/schemas/ChatContentPartText' });
    expect(schemas.ChatContentPartText?.properties).toMatchObject({ type: { const: 'text' }, text: {} });
    expect(schemas.ChatContentPart?.anyOf?.at(-1)).toMatchObject({ additionalProperties: true });
  });

  /** oapi-codegen (Go) declares a type `CreateImageResponse` for the operation `createImage`. */
  test('find no schema with the name of the response of an operation', () => {
    const names = new Set(Object.keys(schemas).map((name) => name.toLowerCase()));
    const taken = operations.map(({ operationId }) => `${operationId}response`.toLowerCase());
    expect(taken.filter((name) => names.has(name))).toEqual([]);
  });

  /** A Go field has the same name for `image_config` and `imageConfig`. */
  test('find no two spellings of one member', () => {
    const spelledTwice = Object.entries(schemas).filter(([, { properties = {} }]) => {
      const members = Object.keys(properties).map((member) => member.replaceAll('_', '').toLowerCase());
      return new Set(members).size < members.length;
    });
    expect(spelledTwice.map(([name]) => name)).toEqual([]);
  });
});

test('an object with any names has the schema of its values, as client generators read it', () => {
  const { Key, LedgerVerification } = described.components.schemas;
  expect(Key?.properties?.aliases).toMatchObject({ type: 'object', additionalProperties: { type: 'string' } });
  expect(LedgerVerification?.properties?.counters).toMatchObject({
    additionalProperties: { type: 'string', description: 'An amount in USD as a decimal string, such as "5.00".' },
  });
  expect(JSON.stringify(described)).not.toContain('patternProperties');
});

test('an operation that only streams has its example as an event', () => {
  const response = described.paths['/admin/v1/calls/stream']?.get?.responses['200'];
  expect(response).toMatchObject({
    content: {
      'text/event-stream': {
        schema: { description: 'The data of each event, as JSON.' },
        example: { model: 'sandbox-chat' },
      },
    },
  });
  expect(Object.keys((response as { content: object }).content)).toEqual(['text/event-stream']);
});
