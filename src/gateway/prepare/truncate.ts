/** Drops the oldest turns of a conversation that exceeds its model's context window, where the client wants that. */
import type { ChatCall, Message } from '../../canonical/call.ts';
import { GatewayError } from '../../canonical/errors.ts';
import type { Model } from '../../catalog/catalog.ts';
import { estimateInputTokens } from '../../dialects/chat/request/estimate-input.ts';

/** The estimate may be wrong by this factor: a conversation beyond it is too long by any count. */
const CERTAINLY = 1.5;
/** The part of the window that is left free for the answer where the client sets no output limit. */
const ANSWERS_PART = 0.25;

/** Throws `invalid_request` with OpenAI's code where the conversation is too long and must not be truncated. */
export function fitted(call: ChatCall, { contextTokens, maxOutputTokens }: Model): ChatCall {
  if (!call.thread || contextTokens === undefined) return call;
  const tokens = estimateInputTokens(call);
  if (call.thread.truncation === 'disabled') {
    if (tokens > contextTokens * CERTAINLY) throw tooLong();
    return call;
  }
  const answer = call.maxOutputTokens ?? Math.min(maxOutputTokens, contextTokens * ANSWERS_PART);
  const excess = tokens - Math.max(contextTokens - answer, contextTokens * ANSWERS_PART);
  return excess > 0 ? withoutOldest(call, excess) : call;
}

function tooLong(): GatewayError {
  const sentence =
    "Your input exceeds the context window of this model: shorten it, or ask for `truncation: 'auto'` to have its oldest turns left out.";
  return new GatewayError('invalid_request', sentence, { param: 'input', providerCode: 'context_length_exceeded' });
}

/** Messages that belong together: a turn of the model with the results of its tool calls, or one of the user. */
interface TurnGroup {
  messages: Message[];
  tokens: number;
  /** Never dropped: instructions, the user's last turn, the last step. */
  stays: boolean;
}

function withoutOldest(call: ChatCall, excess: number): ChatCall {
  const steps = stepsOf(call);
  let left = excess;
  const dropped = new Set<TurnGroup>();
  for (const step of steps) {
    if (left <= 0) break;
    if (step.stays) continue;
    dropped.add(step);
    left -= step.tokens;
  }
  dropAnswersWithoutQuestions(steps, dropped);
  if (dropped.size === 0) return call;
  const gone = callIdsOf([...dropped].flatMap(({ messages }) => messages));
  const messages = steps
    .flatMap((step) => (dropped.has(step) ? [] : step.messages))
    .flatMap((message) => withoutResults(message, gone));
  return { ...call, messages, isEdited: true };
}

function stepsOf(call: ChatCall): TurnGroup[] {
  const steps: TurnGroup[] = [];
  for (const message of call.messages) {
    const last = steps.at(-1);
    const tokens = estimateInputTokens({ ...call, messages: [message], tools: [] });
    if (message.role === 'tool' && last) {
      last.messages.push(message);
      last.tokens += tokens;
    } else steps.push({ messages: [message], tokens, stays: message.role === 'system' });
  }
  for (const step of [steps.at(-1), steps.findLast(({ messages }) => messages[0]?.role === 'user')]) {
    if (step) step.stays = true;
  }
  return steps;
}

/** Providers require that a conversation begins with the user. */
function dropAnswersWithoutQuestions(steps: readonly TurnGroup[], dropped: Set<TurnGroup>): void {
  const lastQuestion = steps.findLastIndex(({ messages }) => messages[0]?.role === 'user');
  for (const step of steps.slice(0, Math.max(0, lastQuestion))) {
    if (dropped.has(step) || step.messages[0]?.role === 'system') continue;
    if (step.messages[0]?.role === 'user') return;
    if (dropped.size > 0) dropped.add(step);
  }
}

function callIdsOf(messages: readonly Message[]): Set<string> {
  return new Set(messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool-call' ? part.id : []))));
}

/** Drops the results of dropped calls, which may be in later messages. */
function withoutResults(message: Message, gone: ReadonlySet<string>): Message[] {
  const parts = message.parts.filter((part) => part.type !== 'tool-result' || !gone.has(part.callId));
  if (parts.length === message.parts.length) return [message];
  return parts.length === 0 ? [] : [{ ...message, parts }];
}
