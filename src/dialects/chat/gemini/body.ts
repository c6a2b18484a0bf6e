/** Brings a request body to the one spelling that the readers expect: checked, in camelCase, without nulls. */
import type { GatewayError } from '../../../canonical/errors.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import { patchedMembers } from '../../shared/adjust.ts';
import { type Billable, billable, type MoneySpelling } from '../../shared/money/money-members.ts';
import { parseObject, wrong } from '../../shared/request-body.ts';
import { type SchemaFault, validatorOf } from '../../shared/validator.ts';
import { patchMembers } from '../../wire/json.ts';
import { GenerateRequest } from './request-schema.ts';

const CONFIGS = ['generationConfig', 'generation_config'];
const inConfigs = (...names: string[]) => CONFIGS.flatMap((config) => names.map((name) => `${config}.${name}`));

const MONEY: MoneySpelling = {
  ceiling: inConfigs('maxOutputTokens', 'max_output_tokens'),
  choices: inConfigs('candidateCount', 'candidate_count'),
  tier: ['serviceTier', 'service_tier'],
  model: ['model'],
  content: new Set(['contents', 'systemInstruction', 'system_instruction', 'tools']),
};

const validator = validatorOf(GenerateRequest);

/** Throws `invalid_request` that names the wrong member. */
export function readGeminiBody(received: Uint8Array): Billable {
  const parsed = parseObject(received);
  const billed = inOneConfig(billable(parsed, received, MONEY));
  const spelled = respelled(billed.body) as JsonObject;
  const body = {
    ...spelled,
    ...(spelled.contents !== undefined && { contents: contentsOf(spelled.contents) }),
    ...(spelled.systemInstruction !== undefined && { systemInstruction: contentOf(spelled.systemInstruction) }),
  };
  if (validator().Check(body)) return { ...billed, body };
  throw faultOf(validator().Errors(body) as SchemaFault[]);
}

/** Merges both spellings of the generation config: servers differ in which one they read. */
function inOneConfig(billed: Billable): Billable {
  const { generationConfig: camel, generation_config: snake } = billed.body;
  if (!isObject(camel) || !isObject(snake)) return billed;
  const members = { generationConfig: { ...snake, ...camel }, generation_config: undefined };
  return { ...billed, body: patchedMembers(billed.body, members), bytes: patchMembers(billed.bytes, members) };
}

/** `contents` may be one content, or a string. */
function contentsOf(contents: Json): Json {
  if (!Array.isArray(contents)) return [contentOf(contents)];
  const arePieces = contents.length > 0 && contents.every((content) => isObject(content) && isBarePart(content));
  return arePieces ? [{ role: 'user', parts: contents }] : contents.map(contentOf);
}

function contentOf(content: Json): Json {
  if (typeof content === 'string') return { parts: [{ text: content }] };
  if (Array.isArray(content)) return { parts: content.map(partOf) };
  if (!isObject(content)) return content;
  if (isBarePart(content)) return { parts: [content] };
  const { parts } = content;
  if (typeof parts === 'string' || isObject(parts)) return { ...content, parts: [partOf(parts)] };
  return Array.isArray(parts) && parts.some((part) => typeof part === 'string')
    ? { ...content, parts: parts.map(partOf) }
    : content;
}

function partOf(part: Json): Json {
  return typeof part === 'string' ? { text: part } : part;
}

function isBarePart(content: JsonObject): boolean {
  return content.parts === undefined && content.role === undefined && Object.keys(content).length > 0;
}

/** Members with names of the client's own. They are not converted. */
const OPAQUE = new Set([
  'args',
  'response',
  'parameters',
  'parametersJsonSchema',
  'responseJsonSchema',
  'responseSchema',
  'labels',
  'data',
  'text',
]);
/** Members that are lists. Google accepts a single value instead, and AI SDK 4 sends `tools` so. */
const REPEATED = new Set([
  'tools',
  'functionDeclarations',
  'allowedFunctionNames',
  'safetySettings',
  'stopSequences',
  'responseModalities',
]);
const SNAKE = /_([a-z0-9])/g;

/** Google also accepts snake_case, and null for a default. */
function respelled(value: Json): Json {
  if (Array.isArray(value)) return value.map(respelled);
  if (!isObject(value)) return value;
  const spelled: JsonObject = {};
  for (const member in value) {
    const inner = value[member];
    if (inner === undefined || inner === null || member === '__proto__') continue;
    const name = member.includes('_') ? member.replace(SNAKE, (_, letter: string) => letter.toUpperCase()) : member;
    const written = OPAQUE.has(name) ? inner : respelled(inner);
    spelled[name] = REPEATED.has(name) && isOne(written) ? [written] : written;
  }
  return spelled;
}

function isOne(value: Json): boolean {
  return isObject(value) || typeof value === 'string';
}

/** Picks the deepest error, because it is the most specific. */
function faultOf(faults: readonly SchemaFault[]): GatewayError {
  const depth = ({ instancePath }: SchemaFault) => instancePath.split('/').length;
  const fault = faults.reduce((deepest, one) => (depth(one) > depth(deepest) ? one : deepest));
  const steps = fault.instancePath.split('/').slice(1);
  const param = steps.reduce(
    (path, step) => (/^\d+$/.test(step) ? `${path}[${step}]` : path === '' ? step : `${path}.${step}`),
    '',
  );
  const missing = fault.params.requiredProperties?.[0];
  if (missing !== undefined) return wrong(param === '' ? missing : `${param}.${missing}`, 'is required');
  const wanted = wantedAt(steps);
  return wrong(param, wanted === undefined ? 'is of the wrong type' : `must be ${wanted}`);
}

/** The schema's description of the member at `steps`. */
function wantedAt(steps: readonly string[]): string | undefined {
  let at: GeminiSchemaNode | undefined = GenerateRequest as GeminiSchemaNode;
  let wanted: string | undefined;
  for (const step of steps) {
    const inner: GeminiSchemaNode | undefined = at?.anyOf?.[0] ?? at;
    at = /^\d+$/.test(step) ? inner?.items : inner?.properties?.[step];
    wanted = at?.description;
  }
  return wanted;
}

interface GeminiSchemaNode {
  description?: string;
  anyOf?: GeminiSchemaNode[];
  items?: GeminiSchemaNode;
  properties?: { [member: string]: GeminiSchemaNode };
}
