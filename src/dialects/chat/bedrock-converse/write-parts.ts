/** Writes parts as the blocks of a request. What a block cannot express is added to the losses. */

import type { CacheMark, Part, ToolCallPart, ToolResultPart } from '../../../canonical/call.ts';
import type { JsonObject } from '../../../canonical/json.ts';
import { BEDROCK_CONVERSE } from '../names.ts';
import { wrapFreeText } from '../request/free-text.ts';
import { inputObject } from '../request/tools.ts';
import type { PartPlace } from '../request/turns.ts';
import type { ConverseModelTraits } from './model-traits.ts';
import { signedThinking } from './reasoning-blocks.ts';
import { legalToolId, legalToolName } from './tool-names.ts';
import { writeMedia } from './write-media.ts';

const MAX_CACHE_POINTS = 4;

/** Writes the parts of one request. It numbers documents and cache points across all turns. */
export class PartWriter {
  readonly #traits: ConverseModelTraits;
  readonly #losses: Set<string>;
  #documents = 0;
  #cachePoints = 0;

  constructor(traits: ConverseModelTraits, losses: Set<string>) {
    this.#traits = traits;
    this.#losses = losses;
  }

  write(parts: readonly Part[], place: PartPlace): JsonObject[] {
    return parts.flatMap((part) => {
      const block = this.#block(part, place);
      if (!block) return [];
      const mark = 'cache' in part && place !== 'result' ? this.cachePoint(part.cache, 'messages') : [];
      return [block, ...mark];
    });
  }

  /** The block after which the prompt may be cached; empty if the model accepts none here, or no more. */
  cachePoint(cache: CacheMark | undefined, at: 'messages' | 'tools'): JsonObject[] {
    if (!cache) return [];
    const isTaken = at === 'messages' ? this.#traits.cache !== undefined : this.#traits.cache === 'everywhere';
    if (!isTaken || this.#cachePoints >= MAX_CACHE_POINTS) {
      this.#losses.add('A cache mark was dropped: the model supports none there, or no more of them.');
      return [];
    }
    this.#cachePoints++;
    const hasLife = cache.ttl !== undefined && this.#traits.cache === 'everywhere';
    return [{ cachePoint: { type: 'default', ...(hasLife && { ttl: cache.ttl ?? '5m' }) } }];
  }

  /** Writes a part as a block; `undefined` if it is empty or not allowed in this turn. */
  #block(part: Part, place: PartPlace): JsonObject | undefined {
    switch (part.type) {
      case 'text':
        if (part.citations?.length) this.#losses.add('Citations in earlier turns were dropped.');
        return written(part.text);
      case 'refusal':
        return written(part.text);
      case 'media':
        if (place === 'assistant' || place === 'system') {
          this.#losses.add(`A ${part.media.kind} in the ${place}'s turn was dropped.`);
          return undefined;
        }
        return writeMedia(part.media, ++this.#documents, this.#losses);
      case 'reasoning': {
        const block = place === 'assistant' ? signedThinking(part) : undefined;
        if (!block)
          this.#losses.add('Earlier thinking was dropped: the model accepts only thinking that it signed itself.');
        return block;
      }
      case 'tool-call':
        return this.#call(part);
      case 'tool-result':
        return this.#result(part);
      case 'native':
        if (part.dialect === BEDROCK_CONVERSE) return { ...part.item };
        this.#losses.add(`A block that only ${part.dialect} knows was dropped.`);
        return undefined;
      default:
        return part satisfies never;
    }
  }

  #call({ id, name, input, custom }: ToolCallPart): JsonObject {
    const value = custom ? wrapFreeText(input) : inputObject(input, this.#losses);
    return { toolUse: { toolUseId: legalToolId(id), name: legalToolName(name), input: value } };
  }

  #result({ callId, parts, failed }: ToolResultPart): JsonObject {
    const inner = parts.filter((part) => part.type !== 'tool-result' && part.type !== 'tool-call');
    const content = this.write(inner, 'result');
    if (failed && !this.#traits.failures) {
      content.unshift({ text: 'The tool failed:' });
      this.#losses.add('The failure of a tool was sent as text: the model has no status for it.');
    }
    const status = failed && this.#traits.failures ? { status: 'error' } : {};
    return { toolResult: { toolUseId: legalToolId(callId), content, ...status } };
  }
}

/** The provider rejects a text without visible characters. */
function written(text: string): JsonObject | undefined {
  return text.trim() === '' ? undefined : { text };
}
