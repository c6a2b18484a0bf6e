/** Replays a stored response as a stream: every item complete, in the event order that the libraries require. */

import { isObject, type JsonObject } from '../../../../canonical/json.ts';
import type { Emit } from '../write-stream.ts';

const encoder = new TextEncoder();
const UNKNOWN_YET = { completed_at: null, usage: null, error: null, incomplete_details: null };

/** `startingAfter`: the sequence number of the last event that the client received. */
export function replayEvents(response: JsonObject, startingAfter: number): Uint8Array {
  let text = '';
  let sequence = 0;
  const emit: Emit = (type, members) => {
    const payload = { type, sequence_number: sequence++, ...members };
    if (payload.sequence_number > startingAfter) text += `event: ${type}\ndata: ${JSON.stringify(payload)}\n\n`;
  };
  const begun = { ...response, status: 'in_progress', output: [], ...UNKNOWN_YET };
  emit('response.created', { response: begun });
  emit('response.in_progress', { response: begun });
  const output = Array.isArray(response.output) ? response.output : [];
  output.forEach((item, index) => {
    if (isObject(item)) replayItem(item, index, emit);
  });
  const word = response.status === 'incomplete' || response.status === 'failed' ? response.status : 'completed';
  emit(`response.${word}`, { response });
  return encoder.encode(text);
}

function replayItem(item: JsonObject, index: number, emit: Emit): void {
  const at = { item_id: String(item.id ?? ''), output_index: index };
  emit('response.output_item.added', { output_index: index, item: opened(item) });
  if (item.type === 'message') replayPieces(item, at, emit);
  if (item.type === 'reasoning') replaySummary(item, at, emit);
  if (item.type === 'function_call') {
    emit('response.function_call_arguments.delta', { ...at, delta: item.arguments ?? '' });
    emit('response.function_call_arguments.done', { ...at, name: item.name ?? '', arguments: item.arguments ?? '' });
  }
  if (item.type === 'custom_tool_call') {
    emit('response.custom_tool_call_input.delta', { ...at, delta: item.input ?? '' });
    emit('response.custom_tool_call_input.done', { ...at, input: item.input ?? '' });
  }
  emit('response.output_item.done', { output_index: index, item });
}

/** The item as it was before its first delta. */
function opened(item: JsonObject): JsonObject {
  switch (item.type) {
    case 'message':
      return { ...item, status: 'in_progress', content: [] };
    case 'reasoning':
      return { ...item, summary: [] };
    case 'function_call':
      return { ...item, status: 'in_progress', arguments: '' };
    case 'custom_tool_call':
      return { ...item, status: 'in_progress', input: '' };
    default:
      return item;
  }
}

function replayPieces({ content }: JsonObject, item: JsonObject, emit: Emit): void {
  (Array.isArray(content) ? content : []).forEach((part, index) => {
    if (!isObject(part)) return;
    const at = { ...item, content_index: index };
    if (part.type === 'refusal') {
      emit('response.content_part.added', { ...at, part: { ...part, refusal: '' } });
      emit('response.refusal.delta', { ...at, delta: part.refusal ?? '' });
      emit('response.refusal.done', { ...at, refusal: part.refusal ?? '' });
    } else {
      emit('response.content_part.added', { ...at, part: { ...part, text: '', annotations: [] } });
      emit('response.output_text.delta', { ...at, delta: part.text ?? '', logprobs: [] });
      emit('response.output_text.done', { ...at, text: part.text ?? '', logprobs: part.logprobs ?? [] });
    }
    emit('response.content_part.done', { ...at, part });
  });
}

function replaySummary({ summary }: JsonObject, item: JsonObject, emit: Emit): void {
  (Array.isArray(summary) ? summary : []).forEach((part, index) => {
    if (!isObject(part)) return;
    const at = { ...item, summary_index: index };
    emit('response.reasoning_summary_part.added', { ...at, part: { ...part, text: '' } });
    emit('response.reasoning_summary_text.delta', { ...at, delta: part.text ?? '' });
    emit('response.reasoning_summary_text.done', { ...at, text: part.text ?? '' });
    emit('response.reasoning_summary_part.done', { ...at, part });
  });
}
