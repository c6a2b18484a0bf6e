/**
 * Recognises a reply of one text, which is charged and passed on without events: what these say is the usage, the end and the
 * model's name. Any other reply is the full reader's; `plain-reply.test.ts` checks that the two agree.
 */
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import type { PlainReply } from '../../dialect.ts';
import { parsedObject } from '../../shared/json-reply.ts';
import { readUsage } from '../../shared/openai-usage.ts';
import type { Quirks } from '../../shared/quirks.ts';

/** A longer reply is parsed once, by the full reader, which also knows the largest that is accepted. */
const MAX_BYTES = 64 * 1024;
/** Until the year 5138. Other times are dropped by the check of all events (`bounded-reader.ts`). */
const MOST_SECONDS = 99_999_999_999;

/** `undefined`: the full reader has to decide. */
export function plainReply(bytes: Uint8Array, quirks: Quirks): PlainReply | undefined {
  if (bytes.length > MAX_BYTES) return undefined;
  const reply = parsedObject(bytes);
  if (!reply || !isPlain(reply)) return undefined;
  const finish = endOf(reply.choices);
  const { usage: raw, model } = reply;
  const usage = finish && isObject(raw) ? readUsage(raw, quirks) : undefined;
  // The client is shown the figures as they are. A report of zero counts as none where there is text.
  if (!finish || !usage || usage.output !== (raw as JsonObject).completion_tokens) return undefined;
  if (usage.input + usage.output === 0) return undefined;
  return { usage, finish, model };
}

/** Whether nothing beside `choices` and `usage` says anything: lists and objects may hold searches, ratings or another report of usage. */
function isPlain(reply: JsonObject): reply is JsonObject & { model: string } {
  const { model, error, created } = reply;
  if (typeof model !== 'string' || (error ?? null) !== null) return false;
  if (created !== undefined && !isTime(created)) return false;
  for (const name in reply) if (name !== 'choices' && name !== 'usage' && isNested(reply[name])) return false;
  return true;
}

/** Why the only choice ends, if it is a text. */
function endOf(choices: Json | undefined): 'stop' | 'length' | undefined {
  if (!Array.isArray(choices) || choices.length !== 1) return undefined;
  const [choice] = choices;
  if (!isObject(choice) || !Object.is(choice.index, 0) || (choice.stop_reason ?? null) !== null) return undefined;
  for (const name in choice) if (name !== 'message' && isNested(choice[name])) return undefined;
  const { finish_reason: finish, message } = choice;
  if ((finish !== 'stop' && finish !== 'length') || !isObject(message) || !isText(message)) return undefined;
  return finish;
}

/** Any other member of a message has to be empty: reasoning, tool calls, a refusal or audio are more than a text. */
function isText(message: JsonObject): boolean {
  if (message.role !== 'assistant' || typeof message.content !== 'string') return false;
  for (const name in message) if (name !== 'role' && name !== 'content' && !isEmpty(message[name])) return false;
  return true;
}

function isTime(value: Json): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MOST_SECONDS;
}

function isNested(value: Json | undefined): boolean {
  return typeof value === 'object' && value !== null;
}

function isEmpty(value: Json | undefined): boolean {
  return value === null || value === '' || (Array.isArray(value) && value.length === 0);
}
