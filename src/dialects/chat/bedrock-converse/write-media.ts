/** Images, documents, video and audio as blocks, always inline. */
import type { Media } from '../../../canonical/call.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import type { JsonObject } from '../../../canonical/json.ts';

/** The provider checks the image and rejects a wrong media type. */
const BEGINNINGS: readonly (readonly [string, string])[] = [
  ['iVBOR', 'png'],
  ['/9j/', 'jpeg'],
  ['R0lGOD', 'gif'],
  ['UklGR', 'webp'],
  ['JVBERi', 'pdf'],
];
const FORMATS: { readonly [mimeType: string]: string } = {
  'image/jpg': 'jpeg',
  'application/pdf': 'pdf',
  'text/csv': 'csv',
  'application/msword': 'doc',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'text/html': 'html',
  'text/markdown': 'md',
  'video/x-matroska': 'mkv',
  'video/quicktime': 'mov',
  'video/x-flv': 'flv',
  'video/x-ms-wmv': 'wmv',
  'video/3gpp': 'three_gp',
  'audio/mpeg': 'mp3',
  'audio/x-wav': 'wav',
  'audio/mp4': 'm4a',
};
const TAKEN = {
  image: ['png', 'jpeg', 'gif', 'webp'],
  document: ['pdf', 'csv', 'doc', 'docx', 'xls', 'xlsx', 'html', 'txt', 'md'],
  video: ['mp4', 'mov', 'mkv', 'webm', 'flv', 'mpeg', 'mpg', 'wmv', 'three_gp'],
  audio: ['wav', 'mp3', 'aac', 'flac', 'm4a', 'ogg', 'opus', 'webm'],
} as const satisfies Record<Media['kind'], readonly [string, ...string[]]>;
/** Types that are sent as text documents. */
const TEXTS = /^(text\/|application\/(json|xml|yaml|x-yaml|javascript|x-ndjson|sql)|.*\+(json|xml)$)/;
// Characters that the provider rejects in a document name (API reference, "DocumentBlock").
const ILLEGAL_IN_NAME = /[^\p{L}\p{N} ()[\]-]+/gu;

/** `number`: distinguishes documents without a name. */
export function writeMedia(media: Media, number: number, losses: Set<string>): JsonObject {
  const { kind, detail, context, cite, title, name } = media;
  if (detail !== undefined && detail !== 'auto') losses.add('`detail` of an image was dropped.');
  const written = { format: formatOf(media), source: sourceOf(media) };
  if (kind !== 'document') return { [kind]: written };
  const spoken = (title ?? name ?? '').replace(ILLEGAL_IN_NAME, ' ').replace(/\s+/g, ' ').trim().slice(0, 180);
  return {
    document: {
      ...written,
      // The provider rejects two documents of the same name.
      name: spoken === '' ? `document ${number}` : `${spoken} (${number})`,
      ...(context !== undefined && { context }),
      ...(cite && { citations: { enabled: true } }),
    },
  };
}

function formatOf({ kind, mimeType = '', source, name = '' }: Media): string {
  const seen =
    source.type === 'inline' ? BEGINNINGS.find(([start]) => source.base64.startsWith(start))?.[1] : undefined;
  const taken: readonly string[] = TAKEN[kind];
  const [, ending = ''] = /\.(\w+)$/.exec(name) ?? [];
  const candidates = [seen, FORMATS[mimeType], mimeType.replace(/^\w+\//, ''), ending.toLowerCase()];
  const format = candidates.find((one) => one !== undefined && taken.includes(one));
  if (format !== undefined) return format;
  if (kind === 'document' && (source.type === 'text' || TEXTS.test(mimeType))) return 'txt';
  if (mimeType === '' && kind !== 'document') return TAKEN[kind][0];
  throw refused(`This model reads ${kind === 'audio' ? 'audio' : `${kind}s`} as ${taken.join(', ')} alone.`);
}

function sourceOf({ kind, source }: Media): JsonObject {
  switch (source.type) {
    case 'inline':
      return { bytes: source.base64 };
    case 'text':
      return { bytes: Buffer.from(source.text).toString('base64') };
    case 'url':
      throw refused(`This model cannot fetch URLs: send the ${kind} as base64.`);
    case 'reference':
      throw new GatewayError(
        'file_reference_unsupported',
        `This model cannot reach the ${kind} that an id refers to: send its bytes as base64.`,
        { param: 'messages' },
      );
    default:
      return source satisfies never;
  }
}

function refused(message: string): GatewayError {
  return new GatewayError('invalid_request', message, { param: 'messages' });
}
