/** For tests: calls written as messages requests, for models of three generations. */
import type { ChatCall, Message } from '../../src/canonical/call.ts';
import type { JsonObject } from '../../src/canonical/json.ts';
import { writeCall } from '../../src/dialects/chat/anthropic-messages/write-request.ts';
import { chatCall } from './chat-call.ts';

export const OLD = 'claude-sonnet-4-0';
export const MIDDLE = 'claude-sonnet-4-5';
export const NEW = 'claude-opus-5';

export function user(text: string): Message {
  return { role: 'user', parts: [{ type: 'text', text }] };
}

export function write(members: Partial<ChatCall>, model = MIDDLE) {
  const { body, warnings } = writeCall(chatCall(members), model, {});
  return { body: JSON.parse(new TextDecoder().decode(body)) as JsonObject, warnings: warnings.join('\n') };
}

export const call = (id: string, name = 'look', input = '{"at":1}') => ({
  type: 'tool-call' as const,
  id,
  name,
  input,
});
export const result = (callId: string, text: string) => ({
  type: 'tool-result' as const,
  callId,
  parts: [{ type: 'text' as const, text }],
  failed: false,
});
