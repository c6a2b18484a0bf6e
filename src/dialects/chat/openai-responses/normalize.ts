/**
 * Normalizes events that the official libraries reject: changing item ids, wrong indexes, a final object without
 * output.
 */
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';

export class ResponsesNormalizer {
  #responseId: string | undefined;
  /** The first id of the item at each index. */
  readonly #ids = new Map<number, string>();
  /** Content indexes by the provider's own. */
  readonly #pieces = new Map<number, Map<number, number>>();
  readonly #done: JsonObject[] = [];

  /** Normalizes the event in place. Returns whether it was changed. */
  normalize(payload: JsonObject): boolean {
    const { response, item } = payload;
    let isNormalized = renamed(payload);
    if (isObject(response)) isNormalized = this.#normalizeResponse(payload, response) || isNormalized;
    else if (payload.output_index === undefined) isNormalized = this.#place(payload) || isNormalized;
    const { output_index: index } = payload;
    if (typeof index !== 'number') return isNormalized;
    if (isObject(item)) {
      isNormalized = this.#pin(index, item, 'id') || isNormalized;
      if (payload.type === 'response.output_item.done') this.#done[index] = item;
    }
    isNormalized = this.#recount(index, payload) || isNormalized;
    return this.#pin(index, payload, 'item_id') || isNormalized;
  }

  /** Adds the item's index to an event that only has its id. */
  #place(payload: JsonObject): boolean {
    const id = isObject(payload.item) ? payload.item.id : payload.item_id;
    for (const [index, known] of this.#ids) {
      if (known !== id) continue;
      payload.output_index = index;
      return true;
    }
    return false;
  }

  /** Bedrock continues a message's content indexes from those of the reasoning item before it. */
  #recount(index: number, payload: JsonObject): boolean {
    const { content_index: counted } = payload;
    if (typeof counted !== 'number') return false;
    let pieces = this.#pieces.get(index);
    if (payload.type === 'response.content_part.added' && !pieces?.has(counted)) {
      pieces ??= new Map();
      this.#pieces.set(index, pieces.set(counted, pieces.size));
    }
    const place = pieces?.get(counted) ?? counted;
    payload.content_index = place;
    return place !== counted;
  }

  #normalizeResponse(payload: JsonObject, response: JsonObject): boolean {
    let isNormalized = false;
    if (typeof response.id === 'string') {
      this.#responseId ??= response.id;
      isNormalized = response.id !== this.#responseId;
      response.id = this.#responseId;
    }
    const { output } = response;
    if (!Array.isArray(output)) return isNormalized;
    if (output.length === 0 && payload.type === 'response.completed' && this.#done.length > 0) {
      response.output = this.#done.filter((item): item is JsonObject => item !== undefined);
      return true;
    }
    output.forEach((item: Json, index) => {
      const done = this.#done[index];
      if (isObject(item) && done && done.type === item.type)
        isNormalized = this.#pin(index, item, 'id') || isNormalized;
    });
    return isNormalized;
  }

  #pin(index: number, carrier: JsonObject, member: 'id' | 'item_id'): boolean {
    const id = carrier[member];
    if (typeof id !== 'string' || id === '') return false;
    const first = this.#ids.get(index);
    if (first === undefined) this.#ids.set(index, id);
    if (first === undefined || first === id) return false;
    carrier[member] = first;
    return true;
  }
}

const BEDROCKS_WORD = 'response.reasoning_part.';

/** Bedrock uses event names of its own for reasoning text, on which the library's helper throws. */
function renamed(payload: JsonObject): boolean {
  const { type } = payload;
  if (typeof type !== 'string' || !type.startsWith(BEDROCKS_WORD)) return false;
  payload.type = `response.content_part.${type.slice(BEDROCKS_WORD.length)}`;
  return true;
}
