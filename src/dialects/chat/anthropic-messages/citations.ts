/** Citations of this format. Each belongs to a text block and covers the whole block. */
import type { Citation } from '../../../canonical/call.ts';
import { isObject, type Json } from '../../../canonical/json.ts';
import { ANTHROPIC_MESSAGES } from '../names.ts';

/** `text`: the block's text. */
export function readCitation(item: Json, text: string): Citation {
  const native = { dialect: ANTHROPIC_MESSAGES, item };
  const span = { start: 0, end: codePoints(text) };
  if (!isObject(item)) return { ...span, native };
  const title = item.title ?? item.document_title;
  return {
    ...span,
    ...(typeof item.url === 'string' && { url: item.url }),
    ...(typeof title === 'string' && { title }),
    ...(typeof item.cited_text === 'string' && { citedText: item.cited_text }),
    native,
  };
}

/** A citation for the client, from any provider. Returns `undefined` if it names no source. */
export function shownCitation({ native, url, title, citedText }: Citation): Json | undefined {
  if (native?.dialect === ANTHROPIC_MESSAGES) return native.item;
  if (url === undefined) return undefined;
  return {
    type: 'web_search_result_location',
    url,
    // Never null: AI SDK 5 and 6 fail on null.
    title: title ?? url,
    encrypted_index: '',
    cited_text: citedText ?? '',
  };
}

/** A citation for the provider: only its own, because it needs the encrypted index. */
export function ownCitation({ native }: Citation): Json | undefined {
  if (native?.dialect !== ANTHROPIC_MESSAGES) return undefined;
  return isObject(native.item) && native.item.encrypted_index === '' ? undefined : native.item;
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
