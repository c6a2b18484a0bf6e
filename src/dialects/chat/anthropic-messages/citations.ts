/** Citations of this format. Each belongs to a text block and covers the whole block. */
import type { Citation } from '../../../canonical/call.ts';
import { isObject, type Json } from '../../../canonical/json.ts';
import { ANTHROPIC_MESSAGES } from '../names.ts';

/** `text`: the block's text. */
export function readCitation(item: Json, text: string): Citation {
  const vendor = { dialect: ANTHROPIC_MESSAGES, item };
  const span = { start: 0, end: codePoints(text) };
  if (!isObject(item)) return { ...span, vendor };
  const title = item.title ?? item.document_title;
  return {
    ...span,
    ...(typeof item.url === 'string' && { url: item.url }),
    ...(typeof title === 'string' && { title }),
    ...(typeof item.cited_text === 'string' && { citedText: item.cited_text }),
    vendor,
  };
}

/** A citation for the client, from any provider. Returns `undefined` if it names no source. */
export function shownCitation({ vendor, url, title, citedText }: Citation): Json | undefined {
  if (vendor?.dialect === ANTHROPIC_MESSAGES) return vendor.item;
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
export function provenCitation({ vendor }: Citation): Json | undefined {
  if (vendor?.dialect !== ANTHROPIC_MESSAGES) return undefined;
  return isObject(vendor.item) && vendor.item.encrypted_index === '' ? undefined : vendor.item;
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
