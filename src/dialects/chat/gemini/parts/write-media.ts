/** Writes images, audio, video and documents as parts: inline, or as text. */

import type { Media } from '../../../../canonical/call.ts';
import { entryOf } from '../../../../canonical/entry-of.ts';
import { GatewayError } from '../../../../canonical/errors.ts';
import type { JsonObject } from '../../../../canonical/json.ts';
import { documentText } from '../../request/document-text.ts';
import { documentType } from '../../request/document-type.ts';

/** The first bytes (in base64) of known types. The provider rejects a missing or wrong type. */
const BEGINNINGS: readonly (readonly [string, string])[] = [
  ['iVBOR', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
  ['JVBERi', 'application/pdf'],
];
const FALLBACKS = {
  image: 'image/png',
  audio: 'audio/wav',
  video: 'video/mp4',
  document: 'application/pdf',
} as const satisfies Record<Media['kind'], string>;
/** Media types that the provider names differently. */
const SYNONYMS: { readonly [mimeType: string]: string } = { 'audio/mpeg': 'audio/mp3', 'image/jpg': 'image/jpeg' };

/** `at`: the path of the media in the call. */
export function writeMedia(media: Media, at: string, losses: Set<string>): JsonObject {
  const { source, detail, cite, name } = media;
  if (detail !== undefined && detail !== 'auto') losses.add('`detail` of an image was dropped.');
  if (cite) losses.add('The request for citations of a document was dropped: the model does not support them.');
  if (source.type !== 'text' && (media.title !== undefined || media.context !== undefined))
    losses.add('`title` and `context` of a document were dropped: the model does not support them.');
  switch (source.type) {
    case 'inline': {
      const displayName = name !== undefined && media.title === undefined ? { displayName: name } : {};
      return { inlineData: { mimeType: typeOf(media, source.base64), data: source.base64, ...displayName } };
    }
    case 'text':
      return { text: documentText(media, source.text) };
    case 'url':
      throw new GatewayError('invalid_request', `This model cannot fetch URLs: send the ${media.kind} as base64.`, {
        param: at,
      });
    case 'reference':
      throw new GatewayError(
        'file_reference_unsupported',
        `This model cannot reach the ${media.kind} that an id refers to: send its bytes as base64.`,
        { param: at },
      );
    default:
      return source satisfies never;
  }
}

function typeOf(media: Media, base64: string): string {
  const { kind } = media;
  const mimeType = kind === 'document' ? documentType(media) : media.mimeType;
  const isImage = kind === 'image' || mimeType === undefined || mimeType === '';
  const seen = isImage ? BEGINNINGS.find(([beginning]) => base64.startsWith(beginning))?.[1] : undefined;
  const named = seen ?? (mimeType || FALLBACKS[kind]);
  return entryOf(SYNONYMS, named) ?? named;
}
