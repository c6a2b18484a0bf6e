/**
 * Normalizes the replies of providers that copied this format incompletely. The result is accepted by the strict
 * `.stream()` helpers of the official libraries. A well-formed object is not changed and costs one look at its members.
 */
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import { readUsage } from '../../shared/openai-usage.ts';
import type { Quirks } from '../../shared/quirks.ts';

/** A tool call of a choice. It has one slot, even if the provider changes its index between deltas. */
interface Slot {
  index: number;
  id: string;
  name: string;
}

interface ChoiceSeen {
  hasRole: boolean;
  finished: boolean;
  slots: Slot[];
  /** The newest slot by the provider's index. */
  byProviderIndex: Map<number, Slot> | undefined;
  /** How many items of each list have been seen. */
  listed: { [list: string]: number };
}

export class ChatNormalizer {
  readonly #quirks: Quirks;
  /** `undefined` for a non-streaming reply without tool calls. */
  #choices: Map<number, ChoiceSeen> | undefined;
  #changed = false;
  #replyId = '';

  constructor(quirks: Quirks) {
    this.#quirks = quirks;
  }

  /** Normalizes a chunk in place. Returns `true` if it was changed. */
  chunk(chunk: JsonObject): boolean {
    this.#changed = false;
    this.#envelope(chunk);
    if (!Array.isArray(chunk.choices)) this.#set(chunk, 'choices', []);
    const choices = chunk.choices as Json[];
    for (let i = 0; i < choices.length; i++) {
      const choice = choices[i];
      if (isObject(choice)) this.#chunkChoice(choice, i);
    }
    return this.#changed;
  }

  /** Normalizes a non-streaming reply in place. Returns `true` if it was changed. */
  whole(body: JsonObject): boolean {
    this.#changed = false;
    this.#envelope(body);
    const choices = Array.isArray(body.choices) ? body.choices : [];
    for (let i = 0; i < choices.length; i++) {
      const choice = choices[i];
      if (isObject(choice)) this.#wholeChoice(choice, i);
    }
    return this.#changed;
  }

  #set(object: JsonObject, member: string, value: Json): void {
    object[member] = value;
    this.#changed = true;
  }

  #remove(object: JsonObject, member: string): void {
    delete object[member];
    this.#changed = true;
  }

  #envelope(body: JsonObject): void {
    if (typeof body.id === 'string' && body.id !== '') this.#replyId = body.id;
    // The writer replaces it by the caller's model name.
    if (typeof body.model !== 'string') this.#set(body, 'model', '');
    const groq = body.x_groq;
    if (!isObject(body.usage) && isObject(groq) && isObject(groq.usage)) this.#set(body, 'usage', { ...groq.usage });
    const usage = body.usage;
    if (!isObject(usage)) return;
    const reported = usage.completion_tokens;
    const read = readUsage(usage, this.#quirks);
    // Usage that the gateway cannot read is not passed on.
    if (!read) {
      this.#remove(body, 'usage');
      return;
    }
    const { output } = read;
    if (typeof reported !== 'number' || output === reported) return;
    this.#set(usage, 'completion_tokens', output);
    // Google includes reasoning only in the total. It has its own price, so it is reported under its own name.
    const details = isObject(usage.completion_tokens_details) ? usage.completion_tokens_details : {};
    if (details.reasoning_tokens) return;
    this.#set(usage, 'completion_tokens_details', { ...details, reasoning_tokens: output - reported });
  }

  /** The choice's own index, otherwise its position. */
  #indexOf(choice: JsonObject, position: number): number {
    if (!Number.isInteger(choice.index)) this.#set(choice, 'index', position);
    return choice.index as number;
  }

  #seen(index: number): ChoiceSeen {
    this.#choices ??= new Map();
    let seen = this.#choices.get(index);
    if (!seen) {
      seen = { hasRole: false, finished: false, slots: [], byProviderIndex: undefined, listed: {} };
      this.#choices.set(index, seen);
    }
    return seen;
  }

  #chunkChoice(choice: JsonObject, position: number): void {
    const index = this.#indexOf(choice, position);
    const seen = this.#seen(index);
    if (!isObject(choice.delta)) this.#set(choice, 'delta', isObject(choice.message) ? choice.message : {});
    let delta = choice.delta as JsonObject;
    if (!seen.hasRole) {
      seen.hasRole = true;
      if (typeof delta.role !== 'string' || delta.role === '') {
        delta = { ...delta, role: 'assistant' };
        this.#set(choice, 'delta', delta);
      }
    }
    if (Array.isArray(delta.content)) this.#contentList(delta, delta.content);
    if (Array.isArray(delta.tool_calls)) this.#callDeltas(seen, index, delta.tool_calls);
    this.#listIndices(seen, delta);
    const finish = choice.finish_reason;
    if (typeof finish !== 'string') return;
    if (finish === '' || seen.finished) this.#set(choice, 'finish_reason', null);
    else seen.finished = true;
  }

  #wholeChoice(choice: JsonObject, position: number): void {
    const index = this.#indexOf(choice, position);
    const message = choice.message;
    if (!isObject(message)) return;
    if (typeof message.role !== 'string' || message.role === '') this.#set(message, 'role', 'assistant');
    if (Array.isArray(message.content)) this.#contentList(message, message.content);
    const calls = Array.isArray(message.tool_calls) ? this.#calls(index, message.tool_calls) : 0;
    if (typeof choice.finish_reason !== 'string' || choice.finish_reason === '') {
      this.#set(choice, 'finish_reason', calls > 0 ? 'tool_calls' : 'stop');
    }
  }

  /** Normalizes the tool calls of a non-streaming reply and returns their number. */
  #calls(choice: number, list: readonly Json[]): number {
    const calls = list.filter(isObject);
    for (const call of calls) this.#opening(call, this.#newSlot(this.#seen(choice), choice, call));
    return calls.length;
  }

  /** Converts Mistral's list of reasoning and text items to this format's two strings. */
  #contentList(message: JsonObject, list: readonly Json[]): void {
    let text = '';
    let thinking = '';
    for (const item of list) {
      if (!isObject(item)) continue;
      if (typeof item.text === 'string') text += item.text;
      if (typeof item.thinking === 'string') thinking += item.thinking;
      for (const thought of Array.isArray(item.thinking) ? item.thinking : []) {
        if (isObject(thought) && typeof thought.text === 'string') thinking += thought.text;
      }
    }
    this.#set(message, 'content', text);
    if (thinking !== '') this.#set(message, 'reasoning_content', thinking);
  }

  #callDeltas(seen: ChoiceSeen, choice: number, calls: readonly Json[]): void {
    for (const call of calls) {
      if (!isObject(call)) continue;
      const known = knownSlot(seen, call);
      const slot = known ?? this.#newSlot(seen, choice, call);
      if (call.index !== slot.index) this.#set(call, 'index', slot.index);
      if (known) this.#continuation(call, slot);
      else this.#opening(call, slot);
    }
  }

  #newSlot(seen: ChoiceSeen, choice: number, call: JsonObject): Slot {
    const index = seen.slots.length;
    const name = nameOf(call);
    const slot = { index, name, id: idOf(call) || mintId(`${this.#replyId}/${choice}/${index}/${name}`) };
    seen.slots.push(slot);
    seen.byProviderIndex ??= new Map();
    seen.byProviderIndex.set(Number.isInteger(call.index) ? (call.index as number) : index, slot);
    return slot;
  }

  #opening(call: JsonObject, slot: Slot): void {
    if (call.id !== slot.id) this.#set(call, 'id', slot.id);
    const isCustom = isObject(call.custom);
    if (call.type !== 'function' && call.type !== 'custom') this.#set(call, 'type', isCustom ? 'custom' : 'function');
    if (isObject(call.function)) this.#argumentsText(call.function);
  }

  /** Libraries concatenate the strings of all deltas, so `id`, `type` and `name` may occur only once. */
  #continuation(call: JsonObject, slot: Slot): void {
    if (call.id !== undefined) this.#remove(call, 'id');
    if (call.type !== undefined && call.type !== 'function' && call.type !== 'custom') this.#remove(call, 'type');
    const body = isObject(call.function) ? call.function : call.custom;
    if (!isObject(body)) return;
    if (isObject(call.function)) this.#argumentsText(body);
    if (body.name === undefined) return;
    if (slot.name === '' && typeof body.name === 'string') slot.name = body.name;
    else this.#remove(body, 'name');
  }

  #argumentsText(body: JsonObject): void {
    const given = body.arguments;
    if (isObject(given)) this.#set(body, 'arguments', JSON.stringify(given));
    else if (given === null) this.#set(body, 'arguments', '');
  }

  /** Gives every list item in a delta an integer `index`: the Python library merges lists by it. */
  #listIndices(seen: ChoiceSeen, delta: JsonObject): void {
    for (const member in delta) {
      const list = delta[member];
      if (!Array.isArray(list) || member === 'tool_calls') continue;
      for (const entry of list) {
        if (!isObject(entry)) continue;
        const next = seen.listed[member] ?? 0;
        if (!Number.isInteger(entry.index)) this.#set(entry, 'index', next);
        seen.listed[member] = (entry.index as number) + 1;
      }
    }
  }
}

/** The tool call that a delta continues; `undefined` if it begins a new one. */
function knownSlot(seen: ChoiceSeen, call: JsonObject): Slot | undefined {
  const id = idOf(call);
  if (Number.isInteger(call.index)) {
    const slot = seen.byProviderIndex?.get(call.index as number);
    // Some providers give every call the index 0. A different id together with a name is a new call.
    const isAnother = slot && id !== '' && id !== slot.id && nameOf(call) !== '';
    return isAnother ? undefined : slot;
  }
  if (id !== '') return seen.slots.find((slot) => slot.id === id);
  return nameOf(call) === '' ? seen.slots.at(-1) : undefined;
}

function idOf(call: JsonObject): string {
  return typeof call.id === 'string' ? call.id : '';
}

function nameOf(call: JsonObject): string {
  const body = isObject(call.function) ? call.function : call.custom;
  return isObject(body) && typeof body.name === 'string' ? body.name : '';
}

/** A deterministic id: it does not depend on how the bytes are split into chunks. */
function mintId(seed: string): string {
  return `call_${new Bun.CryptoHasher('sha256').update(seed).digest('hex').slice(0, 24)}`;
}
