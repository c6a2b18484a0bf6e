/** Token counting by the gateway's own estimate. Agents ask for it before a call. It is not billed. */
import { Type } from 'typebox';
import { type Caller, nameFor } from '../../../access/access.ts';
import type { ChatCall } from '../../../canonical/call.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import { isObject, type JsonObject } from '../../../canonical/json.ts';
import { estimateInputTokens } from '../../../dialects/chat/request/estimate-input.ts';
import type { Dialect } from '../../../dialects/dialect.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { type AnsweredRoute, type RouteRequest, route } from '../../route.ts';
import { GoogleQuery, googlePaths } from './google-path.ts';

// The dialects validate the rest of the conversation.
const CountMessages = Type.Object({ model: Type.String(), messages: Type.Array(Type.Object({})) });
const CountGenerate = Type.Object({
  contents: Type.Optional(Type.Unknown()),
  generateContentRequest: Type.Optional(Type.Object({}, { description: 'a whole request' })),
});

export const COUNT_ROUTES: readonly AnsweredRoute[] = [
  route('POST', '/v1/messages/count_tokens', {
    gate: 'caller',
    scope: 'chat',
    carriers: { anthropic: true },
    summary: 'Estimates how many tokens a conversation in the messages format has.',
    body: CountMessages,
    reply: Type.Object({ input_tokens: Type.Integer() }),
    answer: (deps, request) => ({ input_tokens: countMessages(deps, request) }),
  }),
  ...googlePaths('countTokens', (action) => action === 'countTokens').map(({ path, reading }) =>
    route('POST', path, {
      reading,
      gate: 'caller',
      scope: 'chat',
      carriers: { google: true },
      summary: 'Estimates how many tokens a conversation in the generateContent format has.',
      query: GoogleQuery,
      body: CountGenerate,
      reply: Type.Object({ totalTokens: Type.Integer() }),
      answer: (deps, request) => ({ totalTokens: countGenerate(deps, request) }),
    }),
  ),
];

function countMessages(deps: HttpDeps, request: RouteRequest): number {
  // The format requires `max_tokens`, which has no effect on the count.
  return countInputTokens(
    deps,
    request.caller,
    readConversation(deps.dialect('anthropic-messages'), request, { max_tokens: 1 }),
  );
}

/** Some libraries send the request they are about to make, others only its contents. */
function countGenerate(deps: HttpDeps, request: RouteRequest): number {
  const { generateContentRequest: whole } = request.body as JsonObject;
  const conversation = {
    ...request,
    body: isObject(whole) ? whole : request.body,
    path: { ...request.path, action: 'generateContent' },
  };
  return countInputTokens(deps, conversation.caller, readConversation(deps.dialect('gemini'), conversation, {}));
}

export function readConversation(dialect: Dialect | undefined, request: RouteRequest, more: JsonObject): ChatCall {
  if (!dialect) throw new Error('A dialect that can count does not exist.');
  const { path, headers } = request;
  const body = new TextEncoder().encode(writeAgain({ ...(request.body as JsonObject), ...more }));
  const call = dialect.readCall({ body, headers, path, query: new URLSearchParams() });
  if (call.kind !== 'chat') throw new Error(`The dialect ${dialect.name} has no conversations to count.`);
  return call;
}

/** A body that can be parsed may still be nested too deeply to be written. */
function writeAgain(body: JsonObject): string {
  try {
    return JSON.stringify(body);
  } catch (cause) {
    throw new GatewayError('invalid_request', 'The body is nested too deeply.', { cause });
  }
}

export function countInputTokens({ catalog, access }: HttpDeps, caller: Caller, call: ChatCall): number {
  const model = catalog.find(nameFor(caller, call.model));
  if (!model) {
    const sentence = `There is no model "${call.model}". GET /v1/models lists the available models.`;
    throw new GatewayError('model_not_found', sentence, { param: 'model' });
  }
  access.allowModel(caller, model, call.model);
  return estimateInputTokens(call);
}
