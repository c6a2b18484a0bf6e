/** Tool calls and their results in a request belong together: a provider refuses a result without a call, and a call without a result. */
import { GatewayError } from '../canonical/errors.ts';
import { isObject, type Json, type JsonObject } from '../canonical/json.ts';

/** OpenAI chat: an assistant's calls are answered by the tool messages right after it. */
export function checkChatPairs(messages: Json | undefined): void {
  let known = new Set<unknown>();
  let open = new Set<unknown>();
  const refuseOpen = (at: number) => {
    if (open.size === 0) return;
    const sentence = `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. These had no response: ${[...open].join(', ')}.`;
    throw wrong(`messages[${at}]`, sentence);
  };
  const all = objectsIn(messages);
  for (const [at, message] of all.entries()) {
    if (message.role === 'tool') {
      if (!known.has(message.tool_call_id)) throw orphan(`messages[${at}].tool_call_id`, "'tool_calls'");
      open.delete(message.tool_call_id);
      continue;
    }
    refuseOpen(at);
    const calls = message.role === 'assistant' ? objectsIn(message.tool_calls) : [];
    known = new Set(calls.map(({ id }) => id));
    open = new Set(known);
  }
  refuseOpen(all.length - 1);
}

/** Anthropic messages: the results are in the next turn of the user. Messages of one role that follow each other are one turn. */
export function checkMessagePairs(messages: Json | undefined): void {
  let calls = new Set<unknown>();
  let open = new Set<unknown>();
  let before: Json | undefined;
  const all = objectsIn(messages);
  for (const [at, { role, content }] of all.entries()) {
    const begins = role !== before;
    before = role;
    if (role === 'assistant' && begins) [calls, open] = [new Set(), new Set()];
    for (const [place, block] of objectsIn(content).entries()) {
      if (block.type === 'tool_use') {
        calls.add(block.id);
        open.add(block.id);
      }
      if (block.type !== 'tool_result') continue;
      if (!calls.has(block.tool_use_id))
        throw orphan(`messages[${at}].content[${place}].tool_use_id`, '`tool_use` blocks');
      open.delete(block.tool_use_id);
    }
    const endsTurn = all[at + 1]?.role !== role;
    if (role === 'user' && endsTurn && open.size > 0) throw unanswered(at, open);
  }
}

/** OpenAI responses: a result names a call that comes before it. Calls of stored responses are not in the request. */
export function checkItemPairs({ input, previous_response_id: previous, conversation }: JsonObject): void {
  if (previous != null || conversation != null) return;
  const calls = new Set<unknown>();
  for (const [at, item] of objectsIn(input).entries()) {
    if (item.type === 'item_reference' || item.type === 'compaction') return;
    if (typeof item.type === 'string' && /_call$/.test(item.type)) calls.add(item.call_id);
    if (item.type === 'function_call_output' && !calls.has(item.call_id))
      throw orphan(`input[${at}].call_id`, '`function_call` items');
  }
}

function objectsIn(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function orphan(param: string, calls: string): GatewayError {
  return wrong(param, `Invalid '${param}': a tool's result must answer a call in the preceding ${calls}.`);
}

function unanswered(at: number, ids: Set<unknown>): GatewayError {
  const sentence = `\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${[...ids].join(', ')}.`;
  return wrong(`messages[${at}]`, sentence);
}

function wrong(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', message, { param });
}
