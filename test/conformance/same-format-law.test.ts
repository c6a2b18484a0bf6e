/**
 * Every member of every recorded request arrives unchanged at a provider of the same format, under its own name or the provider's, or is
 * named in a warning. The requests are those of real clients, for their own providers.
 */
import { describe, expect, test } from 'bun:test';
import type { Call } from '../../src/canonical/call.ts';
import { GatewayError } from '../../src/canonical/errors.ts';
import { isObject, type Json, type JsonObject } from '../../src/canonical/json.ts';
import { DIALECTS } from '../../src/dialects/index.ts';
import { type Quirks, quirksOf } from '../../src/dialects/shared/quirks.ts';
import { providerOf } from '../../src/providers/index.ts';
import { quirksFor } from '../../src/providers/provider.ts';
import { atLeast, type RecordedCase, recordedCases, requestBytes } from '../helpers/fixtures.ts';

const WIRES: { readonly [dialect: string]: string } = { gemini: 'gemini-generatecontent' };
/** Provider types by their names in the recordings. */
const TYPES: { readonly [provider: string]: string } = {
  'amazon-bedrock': 'bedrock',
  'google-vertex': 'vertex',
  gpustack: 'vllm',
  'google-openai-compat': 'openai-compatible',
};

/** Members that the gateway sets for every provider, each with its reason. */
const ADDED_BY_GATEWAY: { readonly [dialect: string]: readonly string[] } = {
  // Usage is needed for billing, so it is requested even if the client did not.
  'openai-chat': ['stream_options'],
  'openai-completions': ['stream_options'],
  // Vectors are converted to the requested encoding here; OpenAI's speech is requested as events with usage.
  'openai-embeddings': ['encoding_format'],
  'openai-speech': ['stream_format'],
  // Each request names the model again.
  'gemini-batch-embed': ['requests[].model'],
};
/** Reasoning is placed where the provider accepts it. */
const THOUGHTS = /^messages\[\]\.(reasoning|reasoning_content|reasoning_details)/;

/** Requests that are refused before they are sent, by the named member. */
const REFUSED: { readonly [param: string]: string } = {
  previous_response_id: 'the conversation is kept here, and this one is not',
  conversation: 'kept at the provider, where the gateway keeps conversations itself',
  background: 'the gateway has no background calls',
  fileData: 'files are not kept here',
};

interface Passed {
  sent: JsonObject;
  warnings: readonly string[];
  quirks: Quirks;
  refused?: GatewayError;
}

function passed(dialectName: string, recorded: RecordedCase, bytes: Uint8Array): Passed {
  const dialect = DIALECTS.get(dialectName)!;
  const path = /models\/([^:{}]+):/.exec(recorded.endpoint)?.[1] ?? 'm';
  const provider = providerOf(TYPES[recorded.provider] ?? recorded.provider);
  const quirksAt = (call: Call) => (provider ? quirksOf(quirksFor(provider, call.kind), call.model) : {});
  try {
    const call = dialect.readCall({
      body: bytes,
      headers: new Headers({ 'anthropic-version': '2023-06-01', 'content-type': 'application/json' }),
      path: dialectName.startsWith('gemini')
        ? { model: path, action: recorded.stream ? 'streamGenerateContent' : 'generateContent' }
        : {},
      query: new URLSearchParams(),
    });
    const quirks = quirksAt(call);
    const { body, warnings } = call.origin.foreign
      ? dialect.writeCall(call, call.model, quirks)
      : dialect.passCall(call, call.model, quirks);
    const sent = JSON.parse(Buffer.from(body).toString()) as JsonObject;
    return { sent, warnings: [...(call.origin.dropped ?? []), ...warnings], quirks };
  } catch (thrown) {
    if (thrown instanceof GatewayError) return { sent: {}, warnings: [], quirks: {}, refused: thrown };
    throw thrown;
  }
}

/** Paths of the members in `original` that `sent` has differently or not at all. */
function changed(original: Json, sent: Json | undefined, path = ''): string[] {
  if (isObject(original) && isObject(sent))
    return Object.entries(original).flatMap(([name, value]) =>
      changed(value, sent[name], path === '' ? name : `${path}.${name}`),
    );
  if (Array.isArray(original) && Array.isArray(sent) && original.length === sent.length)
    return [...new Set(original.flatMap((value, place) => changed(value, sent[place], `${path}[]`)))];
  return Bun.deepEquals(original, sent) || (original === null && sent === undefined) ? [] : [path];
}

/** Whether a change is reported: by the provider's name of the member, or by a warning that names it. */
function isReported(path: string, original: JsonObject, { sent, warnings, quirks }: Passed): boolean {
  const [top = ''] = path.split(/[.[]/);
  const renamed = quirks.renames?.[top];
  if (renamed !== undefined && Bun.deepEquals(sent[renamed], original[top])) return true;
  const last = path.split('.').at(-1)?.replace('[]', '') ?? '';
  return warnings.some((warning) => [path, top, last].some((name) => warning.includes(`\`${name}\``)));
}

const CASES = [...DIALECTS.keys()].flatMap((dialect) =>
  recordedCases(WIRES[dialect] ?? dialect).flatMap((recorded) => {
    const bytes = requestBytes(recorded);
    return bytes && recorded.status === 200 ? [{ dialect, recorded, bytes }] : [];
  }),
);

describe('same format, same meaning', () => {
  test('there are recordings of most formats', () => {
    expect(CASES.length).toBeGreaterThanOrEqual(atLeast(400));
    expect(new Set(CASES.map(({ dialect }) => dialect)).size).toBeGreaterThanOrEqual(8);
  });

  test.each(CASES.map((one) => [`${one.dialect} ${one.recorded.file}`, one] as const))(
    '%s',
    (_, { dialect, recorded, bytes }) => {
      const original: unknown = JSON.parse(Buffer.from(bytes).toString());
      if (!isObject(original)) return;
      const result = passed(dialect, recorded, bytes);
      if (result.refused) {
        const { param = result.refused.message } = result.refused;
        expect(Object.keys(REFUSED)).toContain(param.split('.').at(-1) ?? '');
        return;
      }
      const unsupportedSettings = changed(original, result.sent).filter(
        (path) =>
          !ADDED_BY_GATEWAY[dialect]?.some((name) => path === name || path.startsWith(`${name}.`)) &&
          !(result.quirks.reasoningField && THOUGHTS.test(path)) &&
          !isReported(path, original, result),
      );
      expect({ unsupportedSettings, warnings: unsupportedSettings.length > 0 ? result.warnings : [] }).toEqual({
        unsupportedSettings: [],
        warnings: [],
      });
    },
  );
});
