/** Makes a chat call from the members that a test is about. */
import type { ChatCall } from '../../src/canonical/call.ts';

export function chatCall(members: Partial<ChatCall> = {}): ChatCall {
  return {
    kind: 'chat',
    model: 'public-model',
    origin: { dialect: 'a-dialect', body: new Uint8Array() },
    extras: {},
    headers: {},
    stream: true,
    messages: [{ role: 'user', parts: [{ type: 'text', text: 'How are you today?' }] }],
    tools: [],
    sampling: {},
    wantsUsage: true,
    ...members,
  };
}

/** The members that calls of all kinds have. */
export const CALL_DEFAULTS = {
  model: 'm',
  origin: { dialect: 'd', body: new Uint8Array() },
  extras: {},
  headers: {},
  stream: false,
};
