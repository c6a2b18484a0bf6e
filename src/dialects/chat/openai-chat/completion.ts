/** Writes a non-streaming chat completion, and the parts of it that streaming shares. */
import type { ChatCall, Citation } from '../../../canonical/call.ts';
import { newId } from '../../../canonical/id.ts';
import type { Json, JsonObject } from '../../../canonical/json.ts';
import type { Finish, FinishReason, OpeningOf, Reply, ReplyPart } from '../../../canonical/reply.ts';
import type { Usage } from '../../../canonical/usage.ts';
import { writeUsage } from '../../shared/openai-usage.ts';
import { needsWave, waveHeader } from '../../wire/wave.ts';
import { OPENAI_CHAT } from '../names.ts';
import { tokenRows } from '../reply/logprob-rows.ts';
import { explainedRefusal } from '../reply/refusal.ts';
import { markdownImage } from './markdown-images.ts';
import { writePartSignature, writeReasoningSignature } from './signature-carriers.ts';

const FINISH_WORDS = {
  stop: 'stop',
  'stop-sequence': 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  'content-filter': 'content_filter',
  refusal: 'content_filter',
  pause: 'stop',
  'broken-call': 'stop',
  other: 'stop',
} satisfies Record<FinishReason, string>;

/** Whether the client uses `functions`, which preceded `tools` in this format. */
export function usesOldFunctions(call: ChatCall): boolean {
  return call.extras[OPENAI_CHAT]?.functions !== undefined;
}

/**
 * If the output has tool calls, the finish reason says so, even for an ordinary end: clients decide by it whether to
 * run the tools.
 */
export function finishWord({ reason }: Finish, hasCalls: boolean, oldFunctions: boolean): string {
  const word = FINISH_WORDS[reason];
  const finish = hasCalls && word === 'stop' ? 'tool_calls' : word;
  return finish === 'tool_calls' && oldFunctions ? 'function_call' : finish;
}

/**
 * `offset`: how many code points of content precede the part with the citation. The title is never null, because some
 * clients fail on null.
 */
export function annotation(citation: Citation, offset: number): JsonObject | undefined {
  const { url, title, start, end } = citation;
  if (url === undefined) return undefined;
  return {
    type: 'url_citation',
    url_citation: {
      url,
      title: title ?? url,
      start_index: offset + (start ?? 0),
      end_index: offset + (end ?? 0),
      ...(citation.citedText !== undefined && { content: citation.citedText }),
    },
  };
}

/** Counts code points: a surrogate pair is one. */
export function codePoints(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0xd800 && unit < 0xdc00) count--;
  }
  return count;
}

/** The usage that a client of this call sees. */
export function chatUsage(usage: Usage, { countsAlone }: ChatCall): JsonObject {
  if (!countsAlone) return writeUsage(usage);
  const { input, output } = usage;
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}

/** The chat completion object (docs/api.md#chat-completions). */
export function writeCompletion(reply: Reply, call: ChatCall): JsonObject {
  const choices: JsonObject[] = [];
  for (const choice of reply.choices) choices.push(choiceOf(choice, choices.length, call));
  const completion: JsonObject = {
    id: reply.id || newId('chatcmpl-'),
    object: 'chat.completion',
    created: reply.createdSeconds ?? call.receivedSeconds ?? 0,
    model: call.model,
    choices,
  };
  if (reply.usage) completion.usage = chatUsage(reply.usage, call);
  return reply.extras ? Object.assign(completion, reply.extras) : completion;
}

function choiceOf({ parts, finish }: Reply['choices'][number], index: number, call: ChatCall): JsonObject {
  const logprobs: Json[] = [];
  let hasCalls = false;
  for (const part of parts) {
    if (part.logprobs) logprobs.push(...tokenRows(part.logprobs));
    hasCalls ||= part.opens.type === 'tool-call';
  }
  const choice: JsonObject = {
    index,
    message: messageOf(parts, finish && explainedRefusal(finish, parts), call),
    logprobs: logprobs.length > 0 ? { content: logprobs, refusal: null } : null,
    finish_reason: finishWord(finish ?? { reason: 'stop' }, hasCalls, usesOldFunctions(call)),
  };
  if (finish?.stopSequence !== undefined) choice.stop_reason = finish.stopSequence;
  return choice;
}

function messageOf(parts: readonly ReplyPart[], explained: string | undefined, call: ChatCall): JsonObject {
  let content: string | null = null;
  let thoughts = '';
  let refusal: string | null = explained ?? null;
  const members: JsonObject = {};
  const details: Json[] = [];
  const annotations: Json[] = [];
  const calls: JsonObject[] = [];
  for (const part of parts) {
    const { opens, content: partText, signature } = part;
    switch (opens.type) {
      case 'text': {
        if (part.citations) annotations.push(...annotationsOf(part.citations, codePoints(content ?? '')));
        content = (content ?? '') + partText;
        if (signature) Object.assign(members, writePartSignature(signature));
        break;
      }
      case 'image':
        content = (content ?? '') + markdownImage(opens.mimeType, partText);
        break;
      case 'refusal':
        refusal = (refusal ?? '') + partText;
        break;
      case 'reasoning': {
        thoughts += partText;
        const { reasoning_details, ...others } = signature
          ? writeReasoningSignature(signature, partText, details.length)
          : {};
        if (Array.isArray(reasoning_details)) details.push(...reasoning_details);
        Object.assign(members, others);
        break;
      }
      case 'tool-call':
        calls.push(callOf(part, opens));
        break;
      case 'audio':
        members.audio = audioOf(part, opens, call.audio?.format);
        break;
      case 'native':
        break;
      default:
        opens satisfies never;
    }
  }
  const hasOther = calls.length > 0 || refusal !== null || members.audio !== undefined;
  const message: JsonObject = { role: 'assistant', content: content ?? (hasOther ? null : ''), refusal };
  if (thoughts !== '') message.reasoning_content = thoughts;
  if (details.length > 0) message.reasoning_details = details;
  Object.assign(message, members);
  if (annotations.length > 0) message.annotations = annotations;
  if (!calls[0]) return message;
  if (usesOldFunctions(call)) message.function_call = calls[0].function ?? null;
  else message.tool_calls = calls;
  return message;
}

function annotationsOf(citations: readonly Citation[], offset: number): Json[] {
  return citations.flatMap((citation): Json | Json[] => annotation(citation, offset) ?? []);
}

function callOf({ content, signature }: ReplyPart, opens: OpeningOf<'tool-call'>): JsonObject {
  return {
    id: opens.id || newId('call_'),
    ...(opens.custom
      ? { type: 'custom', custom: { name: opens.name, input: content } }
      : { type: 'function', function: { name: opens.name, arguments: content } }),
    ...(signature && writePartSignature(signature)),
  };
}

function audioOf(
  { content, transcript }: ReplyPart,
  opens: OpeningOf<'audio'>,
  format: string | undefined,
): JsonObject {
  const header = needsWave(opens.mimeType, format)
    ? waveHeader(opens.mimeType, Buffer.byteLength(content, 'base64')).toString('base64')
    : '';
  return {
    id: opens.id,
    data: header + content,
    transcript: transcript ?? '',
    expires_at: opens.expiresAtSeconds ?? 0,
  };
}
