/** Writes a call as a text completion request. A conversation becomes a prompt. */

import type { ChatCall, Message, Part } from '../../../canonical/call.ts';
import { isEmpty, isObject, type Json, type JsonMembers } from '../../../canonical/json.ts';
import type { Written } from '../../dialect.ts';
import { type Adjustment, adjust, passOwn } from '../../shared/adjust.ts';
import { type OutgoingBody, WrittenBody, writtenFor } from '../../shared/outgoing-body.ts';
import type { ModelQuirks, Quirks } from '../../shared/quirks.ts';
import { unsupportedMembers } from '../../shared/unsupported-members.ts';
import { OPENAI_COMPLETIONS } from '../names.ts';
import { CACHE_MARKS_DROPPED, hasCacheMarks } from '../request/cache-marks.ts';
import { documentText } from '../request/document-text.ts';

const CITING_DROPPED = 'The request for citations of a document was dropped: the model only completes text.';

export function writeCall(call: ChatCall, model: string, quirks: Quirks): Written {
  const warnings: string[] = [];
  const body = new WrittenBody(membersOf(call, model, warnings));
  const losses = new Set(warnings);
  adjust(body, call, model, quirks, losses, ADJUSTMENTS);
  return writtenFor(call, body, [...losses]);
}

/** The client's own body. What is not adjusted stays byte for byte. */
export function passCall(call: ChatCall, model: string, quirks: Quirks): Written {
  return passOwn(call, model, quirks, ADJUSTMENTS);
}

const ADJUSTMENTS: readonly Adjustment<ChatCall>[] = [askUsage];

/** Usage is requested even if the client does not want to see it: the call is charged by it. */
function askUsage(body: OutgoingBody, { stream }: ChatCall, { streamUsage }: ModelQuirks): void {
  if (!stream) return;
  const asks = streamUsage === 'ask';
  const options = body.get('stream_options');
  const { include_usage: wants, ...others } = isObject(options) ? options : {};
  if (asks && wants !== true) body.set('stream_options', { ...others, include_usage: true });
  else if (!asks) body.set('stream_options', isEmpty(others) ? undefined : others);
}

function membersOf(call: ChatCall, model: string, warnings: string[]): JsonMembers {
  const { sampling, completion } = call;
  const asked = completion
    ? { prompt: promptOf(completion.prompts), stop: sampling.stop }
    : transcriptOf(call, warnings);
  return {
    model,
    ...asked,
    suffix: completion?.suffix,
    echo: completion?.echo || undefined,
    best_of: completion?.bestOf,
    logprobs: completion ? completion.logprobs : sampling.logprobs ? (sampling.topLogprobs ?? 0) : undefined,
    max_tokens: call.maxOutputTokens,
    temperature: sampling.temperature,
    top_p: sampling.topP,
    n: sampling.n,
    presence_penalty: sampling.presencePenalty,
    frequency_penalty: sampling.frequencyPenalty,
    seed: sampling.seed,
    logit_bias: sampling.logitBias,
    user: call.user,
    stream: call.stream || undefined,
    ...call.extras[OPENAI_COMPLETIONS],
  };
}

function promptOf(prompts: readonly (string | number[])[]): Json {
  const [first] = prompts;
  return prompts.length === 1 && first !== undefined ? first : [...prompts];
}

const SPEAKERS = { user: 'User', assistant: 'Assistant', tool: 'Tool', system: 'System' } satisfies Record<
  Message['role'],
  string
>;
const NEXT_USER_TURN = '\nUser:';
const MAX_STOPS = 4;

/**
 * A single user turn becomes the prompt itself. A conversation becomes a transcript that ends where the assistant
 * continues.
 */
function transcriptOf(call: ChatCall, warnings: string[]): { prompt: string; stop: string[] | undefined } {
  for (const loss of lossesOf(call)) warnings.push(loss);
  const { messages, sampling } = call;
  const [only] = messages;
  if (messages.length === 1 && only?.role === 'user')
    return { prompt: textOf(only.parts, warnings), stop: sampling.stop };
  warnings.push('The model completes text: the conversation was written as one prompt.');
  const lines = messages.map((message) => {
    const text = textOf(message.parts, warnings);
    return message.role === 'system' ? text : `${SPEAKERS[message.role]}: ${text}`;
  });
  const stop = sampling.stop ?? [];
  return {
    prompt: [...lines, 'Assistant:'].join('\n\n'),
    stop: stop.length < MAX_STOPS ? [...stop, NEXT_USER_TURN] : stop,
  };
}

function lossesOf(call: ChatCall): string[] {
  const losses: string[] = [];
  const drop = (member: string, isSet: unknown) => {
    if (isSet) losses.push(`\`${member}\` was dropped: the model completes text.`);
  };
  drop('top_k', call.sampling.topK !== undefined);
  drop('service_tier', call.serviceTier !== undefined && call.serviceTier !== 'auto');
  drop('verbosity', call.verbosity);
  drop('prompt_cache_key', call.cacheKey);
  drop('metadata', call.metadata && Object.keys(call.metadata).length > 0);
  drop('audio', call.audio);
  drop('image', call.image);
  drop(
    'name',
    call.messages.some((message) => message.name !== undefined),
  );
  if (hasCacheMarks(call)) losses.push(CACHE_MARKS_DROPPED);
  if (call.tools.length > 0) losses.push('`tools` were dropped: the model completes text and calls none.');
  if (call.output) losses.push('The output format was dropped: the model completes text.');
  if (call.reasoning) losses.push('The reasoning setting was dropped: the model completes text.');
  if (call.modalities?.some((modality) => modality !== 'text'))
    losses.push('`modalities` were dropped: the model answers in text.');
  for (const { names } of unsupportedMembers(call, OPENAI_COMPLETIONS)) {
    for (const name of names) losses.push(`\`${name}\` was dropped: the model completes text.`);
  }
  return losses;
}

function textOf(parts: readonly Part[], warnings: string[]): string {
  const texts: string[] = [];
  for (const part of parts) {
    switch (part.type) {
      case 'text':
        texts.push(part.text);
        if (part.citations?.length)
          warnings.push('Citations in earlier turns were dropped: the model only reads text.');
        break;
      case 'refusal':
        texts.push(part.text);
        break;
      case 'tool-call':
        texts.push(`[calls ${part.name} with ${part.input}]`);
        break;
      case 'tool-result':
        texts.push((part.failed ? 'Error: ' : '') + textOf(part.parts, warnings));
        break;
      case 'reasoning':
        warnings.push('Earlier thinking was left out: the model completes text.');
        break;
      case 'media':
        if (part.media.cite) warnings.push(CITING_DROPPED);
        if (part.media.source.type === 'text') texts.push(documentText(part.media, part.media.source.text));
        else warnings.push(`A ${part.media.kind} was dropped: the model reads text.`);
        break;
      case 'native':
        warnings.push(`A block of ${part.dialect} was dropped: the model reads text.`);
        break;
      default:
        part satisfies never;
    }
  }
  return texts.join('\n');
}
