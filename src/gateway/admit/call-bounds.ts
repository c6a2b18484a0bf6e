/** Limits on the messages, parts and tools of one call: all of them are processed at once, on the event loop. */
import type { Call } from '../../canonical/call.ts';
import { GatewayError } from '../../canonical/errors.ts';

const MOST_MESSAGES = 10_000;
/** Of all messages together. */
const MOST_PARTS = 20_000;
const MOST_TOOLS = 2000;

/** Throws `request_too_large`. */
export function boundCall(call: Call): void {
  if (call.kind !== 'chat') return;
  const { messages, tools } = call;
  if (messages.length > MOST_MESSAGES) throw tooMany(messages.length, 'messages', MOST_MESSAGES);
  if (tools.length > MOST_TOOLS) throw tooMany(tools.length, 'tools', MOST_TOOLS);
  let parts = 0;
  for (const message of messages) parts += message.parts.length;
  if (parts > MOST_PARTS) throw tooMany(parts, 'content parts', MOST_PARTS);
}

function tooMany(count: number, what: string, most: number): GatewayError {
  return new GatewayError('request_too_large', `The request has ${count} ${what}: at most ${most} are taken.`);
}
