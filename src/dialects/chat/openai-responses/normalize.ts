/**
 * Normalizes events that the official libraries reject: changing item ids, wrong indexes, a final object without
 * output.
 */
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';

export class Mender {
  #responseId: string | undefined;
  /** The first id of the item at each index. */
  readonly #ids = new Map<number, string>();
  /** Content indexes by the provider's own. */
  readonly #pieces = new Map<number, Map<number, number>>();
  readonly #done: JsonObject[] = [];

  /** Normalizes the event in place. Returns whether it was changed. */
  mend(payload: JsonObject): boolean {
    const { response, item } = payload;
    let isMended = renamed(payload);
    if (isObject(response)) isMended = this.#mendResponse(payload, response) || isMended;
    else if (payload.output_index === undefined) isMended = this.#place(payload) || isMended;
    const { output_index: index } = payload;
    if (typeof index !== 'number') return isMended;
    if (isObject(item)) {
      isMended = this.#pin(index, item, 'id') || isMended;
      if (payload.type === 'response.output_item.done') this.#done[index] = item;
    }
    isMended = this.#recount(index, payload) || isMended;
    return this.#pin(index, payload, 'item_id') || isMended;
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

  #mendResponse(payload: JsonObject, response: JsonObject): boolean {
    let isMended = false;
    if (typeof response.id === 'string') {
      this.#responseId ??= response.id;
      isMended = response.id !== this.#responseId;
      response.id = this.#responseId;
    }
    const { output } = response;
    if (!Array.isArray(output)) return isMended;
    if (output.length === 0 && payload.type === 'response.completed' && this.#done.length > 0) {
      response.output = this.#done.filter((item): item is JsonObject => item !== undefined);
      return true;
    }
    output.forEach((item: Json, index) => {
      const told = this.#done[index];
      if (isObject(item) && told && told.type === item.type) isMended = this.#pin(index, item, 'id') || isMended;
    });
    return isMended;
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
