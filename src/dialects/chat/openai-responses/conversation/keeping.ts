/** What is stored of a response, and how a request continues it. */

import type { ChatCall } from '../../../../canonical/call.ts';
import { entryOf } from '../../../../canonical/entry-of.ts';
import { GatewayError } from '../../../../canonical/errors.ts';
import { newId } from '../../../../canonical/id.ts';
import { isObject, type JsonObject } from '../../../../canonical/json.ts';
import type { Keeping, KeptTurn, WireRequest } from '../../../dialect.ts';
import { wrong } from '../../../shared/request-body.ts';
import { patchMembers } from '../../../wire/json.ts';
import { readCarriedSignature } from '../../carried-signature.ts';
import { OPENAI_RESPONSES } from '../../names.ts';
import { isReference } from '../read-items.ts';
import { readCall } from '../read-request.ts';
import { wrapped } from '../signatures.ts';
import { replayEvents } from './replay.ts';

export const keeping: Keeping<ChatCall> = {
  idPrefix: 'resp_',
  check,
  keep,
  resume: resumeWith(readCall),
  replay: replayEvents,
};

/** Refuses members whose absence would change the answer. */
function check({ extras }: ChatCall): void {
  const { background, conversation } = extras[OPENAI_RESPONSES] ?? {};
  if (background === true) {
    throw wrong(
      'background',
      'must be `false`: background responses are not supported. Use `stream` for long responses',
    );
  }
  if (conversation === undefined) return;
  throw wrong('conversation', 'is not supported: continue a response by its id in `previous_response_id`');
}

function keep({ thread }: ChatCall, { output, ...reply }: JsonObject): KeptTurn {
  return {
    input: (thread?.items ?? []).map(withId),
    output: Array.isArray(output) ? output.filter(isObject) : [],
    reply,
  };
}

const ID_PREFIXES: { readonly [type: string]: string } = {
  message: 'msg_',
  reasoning: 'rs_',
  function_call: 'fc_',
  function_call_output: 'fco_',
  custom_tool_call: 'ctc_',
  custom_tool_call_output: 'ctco_',
  compaction: 'cmp_',
};

/** Completes an item for a list of items: with type, id, and content as a list of parts. */
export function withId(item: JsonObject): JsonObject {
  const type = typeof item.type === 'string' ? item.type : 'message';
  const id = typeof item.id === 'string' && item.id !== '' ? item.id : newId(entryOf(ID_PREFIXES, type) ?? 'item_');
  const { content } = item;
  if (type !== 'message' || typeof content !== 'string') return { ...item, type, id };
  const piece =
    item.role === 'assistant'
      ? { type: 'output_text', text: content, annotations: [] }
      : { type: 'input_text', text: content };
  return { ...item, type, id, content: [piece] };
}

/** `read`: reads the request again, with the stored items before its own. */
export function resumeWith(read: (request: WireRequest) => ChatCall): Keeping<ChatCall>['resume'] {
  return (call, before, known) => {
    const items = (call.thread?.items ?? []).map((item, index) =>
      isReference(item) ? (itemNamed(item.id, [...known, ...before]) ?? lost(index)) : item,
    );
    const input = [...before.flatMap(turnItems), ...items];
    const body = patchMembers(call.origin.body, { input, previous_response_id: undefined });
    const resumed = read({ body, headers: new Headers(), path: {}, query: new URLSearchParams() });
    if (resumed.thread && call.thread) {
      const { previous } = call.thread;
      resumed.thread = { ...resumed.thread, items, isResumed: true, ...(previous !== undefined && { previous }) };
    }
    return resumed;
  };
}

/** The items of a turn as input items. */
function turnItems({ input, output, owner }: KeptTurn): JsonObject[] {
  const items = output.filter(isWhole);
  // Reasoning is accepted only before the item that it led to.
  while (isLooseThought(items.at(-1))) items.pop();
  return [...input, ...items].map((item) => handedIn(item, owner));
}

/** Reasoning that carries the signature of the item before it belongs to that item. */
function isLooseThought(item: JsonObject | undefined): boolean {
  if (item?.type !== 'reasoning') return false;
  const { encrypted_content: content } = item;
  return typeof content !== 'string' || !readCarriedSignature(content);
}

function itemNamed(id: unknown, turns: readonly KeptTurn[]): JsonObject | undefined {
  for (const { input, output, owner } of turns) {
    const item = [...input, ...output].find((one) => one.id === id);
    if (item) return handedIn(item, owner);
  }
  return undefined;
}

function lost(index: number): never {
  const param = `input[${index}].id`;
  const sentence = `\`${param}\` refers to an item that is not stored here. Send the item itself.`;
  throw new GatewayError('not_found', sentence, { param });
}

/** A tool call that was cut off has unreadable arguments. */
function isWhole({ type, status }: JsonObject): boolean {
  const isCall = type === 'function_call' || type === 'custom_tool_call';
  return !isCall || status === undefined || status === 'completed';
}

const PLAIN = new Set(Object.keys(ID_PREFIXES));

/**
 * Removes ids, which are the gateway's or another provider's. Reasoning keeps its id, because providers compare it with
 * the item that follows.
 */
function handedIn(item: JsonObject, owner: string | undefined): JsonObject {
  const kept = owner === undefined ? item : wrapped(item, owner);
  if (item.type === 'reasoning' || !PLAIN.has(String(item.type))) return kept;
  const { id: _, status: __, ...rest } = kept;
  return rest;
}
