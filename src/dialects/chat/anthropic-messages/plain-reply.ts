/**
 * Recognises a message of one text, which is charged and passed on without events: what these say is the usage, the end and the
 * model's name. Any other message is the full reader's; `plain-reply.test.ts` checks that the two agree.
 */
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import type { PlainReply } from '../../dialect.ts';
import { parsedObject } from '../../shared/json-reply.ts';
import { readUsage } from './usage.ts';

/** A longer reply is parsed once, by the full reader, which also knows the largest that is accepted. */
const MAX_BYTES = 64 * 1024;

/** Why a message of one text ends. A stop sequence or a refusal says more than one word. */
const ENDS: ReadonlyMap<Json | undefined, 'stop' | 'length'> = new Map([
  ['end_turn', 'stop'],
  ['max_tokens', 'length'],
]);

/** `undefined`: the full reader has to decide. */
export function plainReply(bytes: Uint8Array): PlainReply | undefined {
  if (bytes.length > MAX_BYTES) return undefined;
  const message = parsedObject(bytes);
  const finish = message && ENDS.get(message.stop_reason);
  if (!finish || !isOneText(message) || typeof message.model !== 'string' || !isObject(message.usage)) return undefined;
  const usage = readUsage(message.usage, 'reported');
  // A report of zero counts as none where there is text.
  if (!usage || usage.input + usage.output === 0) return undefined;
  return { usage, finish, model: message.model };
}

function isOneText({ content, stop_sequence: sequence, stop_details: details }: JsonObject): boolean {
  if (!Array.isArray(content) || content.length !== 1 || (sequence ?? details ?? null) !== null) return false;
  const [block] = content;
  if (!isObject(block) || block.type !== 'text' || typeof block.text !== 'string') return false;
  return (block.citations ?? null) === null;
}
