/** Reads a generateContent request. Model and action (streaming or not) are part of the URL. */
import type { ChatCall } from '../../../canonical/call.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import type { WireRequest } from '../../dialect.ts';
import { knownMembers } from '../../shared/request-shape.ts';
import { unknownMembers } from '../../shared/unknown-members.ts';
import { GEMINI } from '../names.ts';
import { readGeminiBody } from './body.ts';
import { readConfig } from './read-config.ts';
import { readContents } from './read-contents.ts';
import { GenerateRequest } from './request-schema.ts';
import { readToolChoice, readTools } from './tools.ts';

const understood = knownMembers(GenerateRequest);

/** Throws `not_found` for an unknown action, `invalid_request` that names the wrong member. */
export function readCall(request: WireRequest): ChatCall {
  const stream = isStream(request.path.action ?? '');
  const { body, bytes, dropped } = readGeminiBody(request.body);
  const { contents, systemInstruction, tools, toolConfig, generationConfig, serviceTier, ...extras } = body;
  const { messages, beside } = readContents(systemInstruction, contents);
  const { meant, rest } = readConfig(isObject(generationConfig) ? generationConfig : {});
  const known = readTools(tools);
  const { choice, rest: choiceRest } = readToolChoice(isObject(toolConfig) ? toolConfig : {}, known);
  const tier = readTier(serviceTier);
  const others: JsonObject = { ...extras, ...beside };
  if (Object.keys(rest).length > 0) others.generationConfig = rest;
  if (Object.keys(choiceRest).length > 0) others.toolConfig = choiceRest;
  return {
    kind: 'chat',
    model: modelOf(request.path.model ?? ''),
    origin: {
      dialect: GEMINI,
      body: bytes,
      unsaid: () => unknownMembers(body, understood()),
      ...(dropped && { dropped }),
      ...(stream && { framing: request.query.get('alt') === 'sse' ? 'sse' : 'json-array' }),
    },
    extras: Object.keys(others).length > 0 ? { [GEMINI]: others } : {},
    headers: {},
    stream,
    messages,
    tools: known,
    ...meant,
    wantsUsage: true,
    ...(choice && { toolChoice: choice }),
    ...(tier !== undefined && { serviceTier: tier }),
  };
}

function isStream(action: string): boolean {
  switch (action.replace(/\/+$/, '')) {
    case 'generateContent':
      return false;
    case 'streamGenerateContent':
      return true;
    default:
      throw new GatewayError(
        'not_found',
        'The action is not known here: use `generateContent` or `streamGenerateContent`.',
      );
  }
}

/** Clients put `models/` before the name, some of them twice. */
function modelOf(path: string): string {
  const model = path.replace(/^\/?(models\/)+/, '');
  if (model === '') throw new GatewayError('invalid_request', 'The path must name a model.', { param: 'model' });
  return model;
}

function readTier(tier: Json | undefined): string | undefined {
  if (typeof tier !== 'string') return undefined;
  const word = tier.toLowerCase().replace(/^service_tier_/, '');
  if (word === 'unspecified') return undefined;
  return word === 'standard' ? 'default' : word;
}
