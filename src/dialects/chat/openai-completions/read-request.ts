/** Reads a text completion request: checks types and ranges, and brings prompts to one form. */
import type { ChatCall, Completion, Sampling } from '../../../canonical/call.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import { isObject, type JsonObject } from '../../../canonical/json.ts';
import type { WireRequest } from '../../dialect.ts';
import { extrasOf, memberCheck } from '../../shared/checked-members.ts';
import { billable, type MoneySpelling } from '../../shared/money/money-members.ts';
import { parseBody, wrong } from '../../shared/request-body.ts';
import { topMembers } from '../../shared/request-shape.ts';
import { OPENAI_COMPLETIONS } from '../names.ts';
import { CompletionRequest } from './request-schema.ts';

/** All other members are extras. */
const DECLARED = topMembers(CompletionRequest);
const check = memberCheck(CompletionRequest);

const MONEY: MoneySpelling = {
  ceiling: ['max_tokens'],
  choices: ['n'],
  tries: ['best_of'],
  tier: ['service_tier'],
  model: ['model'],
  content: new Set(['response_format']),
};

export function readCall(request: WireRequest): ChatCall {
  const { body: parsed, bytes, dropped } = billable(readBody(request.body), request.body, MONEY);
  const body = check(parsed);
  const prompts = readPrompts(body.prompt);
  const sampling = readSampling(body);
  const first = prompts[0];
  return {
    kind: 'chat',
    model: body.model,
    origin: { dialect: OPENAI_COMPLETIONS, body: bytes, ...(dropped && { dropped }) },
    extras: extrasOf(body, DECLARED, OPENAI_COMPLETIONS),
    headers: {},
    stream: body.stream ?? false,
    messages: typeof first === 'string' ? [{ role: 'user', parts: [{ type: 'text', text: first }] }] : [],
    tools: [],
    sampling,
    wantsUsage: (body.stream_options as JsonObject | undefined)?.include_usage === true,
    completion: readCompletion(body, prompts, sampling.n ?? 1),
    ...(body.max_tokens != null && { maxOutputTokens: body.max_tokens }),
    ...(body.user != null && { user: body.user }),
  };
}

function readBody(bytes: Uint8Array): JsonObject {
  const body = parseBody(bytes, 'The body is not JSON: send a JSON object.');
  if (!isObject(body)) throw new GatewayError('invalid_request', 'The body must be a JSON object.');
  return body;
}

function readPrompts(prompt: CompletionRequest['prompt']): (string | number[])[] {
  if (typeof prompt === 'string') return [prompt];
  const [first] = prompt;
  return typeof first === 'number' ? [prompt as number[]] : (prompt as (string | number[])[]);
}

function readCompletion(
  { suffix, best_of: bestOf, logprobs, echo }: CompletionRequest,
  prompts: (string | number[])[],
  n: number,
): Completion {
  if (bestOf != null && bestOf < n) throw wrong('best_of', 'must be at least `n`');
  return {
    prompts,
    echo: echo ?? false,
    ...(suffix != null && { suffix }),
    ...(bestOf != null && { bestOf }),
    ...(logprobs != null && { logprobs }),
  };
}

function readSampling(body: CompletionRequest): Sampling {
  const { temperature, top_p: topP, presence_penalty: presencePenalty, frequency_penalty: frequencyPenalty } = body;
  const { seed, n, stop, logit_bias: logitBias } = body;
  const stops = typeof stop === 'string' ? [stop] : stop;
  return {
    ...(temperature != null && { temperature }),
    ...(topP != null && { topP }),
    ...(presencePenalty != null && { presencePenalty }),
    ...(frequencyPenalty != null && { frequencyPenalty }),
    ...(seed != null && { seed }),
    ...(n != null && { n }),
    ...(stops && stops.length > 0 && { stop: stops }),
    ...(logitBias != null && { logitBias }),
  };
}
