/** Images inside the text of a chat, as Markdown with a data URL. */
import type { Part, TextPart } from '../../../canonical/call.ts';

export function markdownImage(mimeType: string, base64: string): string {
  return `![image](data:${mimeType};base64,${base64})`;
}

/** Searched first, because a search for one string is much cheaper than the regular expression. */
const SIGN = '](data:image/';
const IMAGE = /!\[[^\]\n]*\]\(data:(image\/[\w.+-]+);base64,([A-Za-z0-9+/]+={0,2})\)/g;

export function mayHoldImages(text: string): boolean {
  return text.includes(SIGN);
}

/** Splits a text at its Markdown images, so that earlier generated images are sent as images, not as text. */
export function withImages(part: TextPart): Part[] {
  const { text, ...rest } = part;
  if (!mayHoldImages(text)) return [part];
  const parts: Part[] = [];
  let end = 0;
  for (const found of text.matchAll(IMAGE)) {
    const [whole, mimeType = '', base64 = ''] = found;
    const before = text.slice(end, found.index);
    if (before.trim() !== '') parts.push({ type: 'text', text: before });
    parts.push({ type: 'media', media: { kind: 'image', source: { type: 'inline', base64 }, mimeType } });
    end = found.index + whole.length;
  }
  if (parts.length === 0) return [part];
  const after = text.slice(end);
  if (after.trim() !== '') parts.push({ type: 'text', text: after });
  const first = parts[0];
  if (first) Object.assign(first, rest.signature && { signature: rest.signature }, rest.cache && { cache: rest.cache });
  return parts;
}
