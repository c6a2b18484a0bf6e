/** OpenAI's `POST /v1/responses/compact`. A provider without that endpoint is asked for a summary in its own format. */

import type { ChatCall, Message, Part } from '../../../../canonical/call.ts';
import { GatewayError } from '../../../../canonical/errors.ts';
import { newId } from '../../../../canonical/id.ts';
import { isObject, type Json, type JsonObject } from '../../../../canonical/json.ts';
import type { Reply, ReplyEvent } from '../../../../canonical/reply.ts';
import type { Usage } from '../../../../canonical/usage.ts';
import type { Dialect, Frame, WireRequest, Writer, Written } from '../../../dialect.ts';
import { adjust } from '../../../shared/adjust.ts';
import { jsonReader, jsonWriter, unreadable } from '../../../shared/json-reply.ts';
import { OPENAI_ERRORS } from '../../../shared/openai-errors.ts';
import { readUsage } from '../../../shared/openai-usage.ts';
import { OwnBody } from '../../../shared/outgoing-body.ts';
import type { Quirks } from '../../../shared/quirks.ts';
import { wrong } from '../../../shared/request-body.ts';
import { patchMembers, pickMembers } from '../../../wire/json.ts';
import { withOwnSignatures } from '../pass-call.ts';
import { readCall as readResponsesCall } from '../read-request.ts';
import { writeResponseUsage } from '../usage.ts';
import { writeCompaction } from './compaction-item.ts';
import { keeping, resumeWith, withId } from './keeping.ts';

const NAME = 'openai-responses-compact';

export const openaiResponsesCompact: Dialect<ChatCall> = {
  name: NAME,
  kind: 'chat',
  returnsSignatures: true,
  keeping: { ...keeping, resume: resumeWith(readCall) },
  singleChoice: true,
  supportsMediaUrls: ['image', 'document'],
  readCall,
  writer: createWriter,
  ...OPENAI_ERRORS,
  writeCall: passCall,
  passCall,
  reader: (call) => jsonReader((body) => meaningOf(body, call)),
};

const INSTRUCTION = [
  'Summarize the conversation above, so that an assistant who sees only your summary can continue it.',
  'Keep every fact, decision, requirement, name, number, path, identifier and result of a tool that may still matter,',
  'what has been done, what is left to do, and what the user asked for last.',
  'Answer with the summary alone, as plain text: do not continue the conversation, and do not answer what was asked in it.',
].join(' ');

function readCall(request: WireRequest): ChatCall {
  const { tools: _, toolChoice: __, output: ___, parallelToolCalls: ____, ...call } = readResponsesCall(request);
  if (call.stream) throw wrong('stream', 'must be `false`: a compacted conversation is not streamed');
  const { thread } = call;
  const before = call.messages.flatMap(narrated);
  const hasMore = thread?.previous !== undefined || (thread?.references.length ?? 0) > 0;
  if (!hasMore && before.every(({ role }) => role === 'system')) throw wrong('input', 'has no turns to compact');
  return {
    ...call,
    origin: { ...call.origin, dialect: NAME },
    messages: [...before, { role: 'user', parts: [{ type: 'text', text: INSTRUCTION }] }],
    tools: [],
    ...(thread && { thread: { ...thread, store: false } }),
  };
}

/**
 * Writes tool calls and results as text: providers reject them in a request without tools, or without the reasoning
 * before them.
 */
function narrated({ role, parts, ...message }: Message): Message[] {
  const narration = parts.flatMap(narratedPart);
  if (narration.length === 0) return [];
  return [{ ...message, role: role === 'tool' ? 'user' : role, parts: narration }];
}

function narratedPart(part: Part): Part[] {
  switch (part.type) {
    case 'tool-call':
      return [{ type: 'text', text: `[Call ${part.id} of the tool ${part.name}: ${part.input}]` }];
    case 'tool-result':
      return [
        { type: 'text', text: `[Result of the tool call ${part.callId}${part.failed ? ', which failed' : ''}:]` },
        ...part.parts.flatMap(narratedPart),
      ];
    case 'refusal':
      return [{ type: 'text', text: part.text }];
    case 'reasoning':
      return [];
    case 'text': {
      const { signature: _, ...text } = part;
      return [text];
    }
    default:
      return [part];
  }
}

/** The client's own body for a provider that compacts. Summaries of the gateway are sent as text. */
function passCall(call: ChatCall, model: string, quirks: Quirks): Written {
  const body = new OwnBody(call.origin.body);
  const warnings = new Set<string>();
  if (model !== call.model) body.set('model', model);
  const input = body.get('input');
  if (Array.isArray(input)) body.set('input', withOwnSignatures(input, call.thread?.owner, warnings));
  adjust(body, call, model, quirks, warnings);
  return { body: body.encode(), warnings: [...warnings] };
}

/** Reads the reply of a provider that compacts. Its items are opaque. */
function meaningOf({ id, object, output, usage }: JsonObject, call: ChatCall): ReplyEvent[] {
  if (object !== 'response.compaction' || !Array.isArray(output)) throw unreadable();
  const used = isObject(usage) ? readUsage(usage, {}) : undefined;
  return [
    { type: 'reply-start', id: typeof id === 'string' ? id : '', model: call.model },
    { type: 'choice-end', choice: 0, finish: { reason: 'stop' } },
    ...(used ? [{ type: 'usage', usage: used } satisfies ReplyEvent] : []),
  ];
}

function createWriter(call: ChatCall): Writer {
  let billed: Usage | undefined;
  const warnings: string[] = [];
  const usageOf = (reply: Reply) => {
    const usage = billed ?? reply.usage;
    return usage && writeResponseUsage(usage);
  };
  return {
    ...jsonWriter(
      (reply) => {
        if (reply.choices[0]?.finish?.reason === 'length') warnings.push('The summary ended at its token limit.');
        return compacted(call, reply, usageOf(reply) ?? null);
      },
      (frame, reply) => patchMembers(frame.bytes, { usage: { ...usageOf(reply), ...reportedUsage(frame) } }),
    ),
    warnings,
    bill(usage) {
      billed = usage;
    },
  };
}

/** The usage as the provider reported it; added counts follow. */
function reportedUsage({ bytes }: Frame): JsonObject {
  const { usage } = pickMembers(bytes, new Set(['usage']));
  return isObject(usage) ? usage : {};
}

/** Makes the reply for a provider without the endpoint: all user turns, and a summary of what is between them. */
function compacted(call: ChatCall, reply: Reply, usage: Json): JsonObject {
  const summary = summaryOf(reply);
  return {
    id: newId('resp_'),
    object: 'response.compaction',
    created_at: reply.createdSeconds ?? call.receivedSeconds ?? 0,
    output: [...keptItems(call), writeCompaction(newId('cmp_'), summary)],
    usage,
  };
}

function summaryOf({ choices }: Reply): string {
  const parts = choices[0]?.parts ?? [];
  const text = parts
    .map(({ opens, content }) => (opens.type === 'text' ? content : ''))
    .join('')
    .trim();
  if (text !== '') return text;
  // A caller can cause this, and clients repeat a request after a 5xx, which would be charged again.
  if (choices[0]?.finish?.reason !== 'length')
    throw new GatewayError('upstream_refused', 'The model answered without a summary.', { billed: true });
  const sentence = 'The token limit was reached before the summary began: raise `max_output_tokens`.';
  throw new GatewayError('invalid_request', sentence, { param: 'max_output_tokens', billed: true });
}

/** Earlier compaction items are part of the new summary. */
function keptItems({ origin }: ChatCall): JsonObject[] {
  const { input } = pickMembers(origin.body, new Set(['input']));
  const items: Json[] = Array.isArray(input) ? input : [{ role: 'user', content: input ?? '' }];
  return items.filter(isObject).flatMap((item) => {
    const isTurn = item.type === undefined || item.type === null || item.type === 'message';
    return isTurn && item.role !== 'assistant' ? [{ ...withId(item), status: 'completed' }] : [];
  });
}
