/** Writes parts as the content of a message or of a tool's output. What cannot be expressed is added to the losses. */

import type { Media, Part, TextPart } from '../../../canonical/call.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import type { Json, JsonObject } from '../../../canonical/json.ts';
import { mediaUrl } from '../../shared/outgoing-media.ts';
import { OPENAI_RESPONSES } from '../names.ts';
import { documentText } from '../request/document-text.ts';
import { openaiAudioFormat } from '../request/openai-audio-format.ts';
import { writeAnnotation } from './citations.ts';

/** Shared state while writing messages, including the warnings. */
export interface ResponsesWriteOptions {
  /** The client uses this format too, so its own members can stay. */
  isOwn: boolean;
  losses: Set<string>;
}

export type ResponsesContent = Extract<Part, { type: 'text' | 'refusal' | 'media' | 'native' }>;

/** A single text is written as a string. */
export function writeContent(
  parts: readonly ResponsesContent[],
  isAssistant: boolean,
  script: ResponsesWriteOptions,
): string | Json[] {
  const [first] = parts;
  const isPlain = first?.type === 'text' && !first.cache && !first.citations;
  if (parts.length === 1 && isPlain) return first.text;
  return parts.flatMap((part) => writePart(part, isAssistant, script) ?? []);
}

function writePart(
  part: ResponsesContent,
  isAssistant: boolean,
  script: ResponsesWriteOptions,
): JsonObject | undefined {
  switch (part.type) {
    case 'text':
      if (part.text === '' && !script.isOwn) return undefined;
      return isAssistant ? writeOutputText(part) : { type: 'input_text', text: part.text, ...breakpoint(part, script) };
    case 'refusal':
      return isAssistant ? { type: 'refusal', refusal: part.text } : { type: 'input_text', text: part.text };
    case 'media':
      if (isAssistant && !script.isOwn) {
        script.losses.add('Media of an earlier assistant turn was dropped: the model’s format cannot express it.');
        return undefined;
      }
      return { ...writeMedia(part.media, script), ...breakpoint(part, script) };
    case 'native':
      return part.item;
    default:
      return part satisfies never;
  }
}

function writeOutputText({ text, citations = [] }: TextPart): JsonObject {
  return { type: 'output_text', text, annotations: citations.flatMap((citation) => writeAnnotation(citation) ?? []) };
}

/** Cache marks of other formats are dropped: the provider caches automatically. */
function breakpoint({ cache }: { cache?: object }, { isOwn }: ResponsesWriteOptions): JsonObject {
  return cache && isOwn ? { prompt_cache_breakpoint: { mode: 'explicit' } } : {};
}

function writeMedia(media: Media, { losses }: ResponsesWriteOptions): JsonObject {
  const { kind, source, name, title, detail } = media;
  if (media.cite)
    losses.add('The request for citations of a document was dropped: the model’s format does not support them.');
  const detailed = detail === undefined ? {} : { detail };
  if (source.type === 'text') {
    return { type: 'input_text', text: documentText(media, source.text) };
  }
  if (media.context !== undefined) losses.add('`context` of a document was dropped: this format has none.');
  if (source.type === 'reference') {
    if (source.dialect !== OPENAI_RESPONSES) throw fileElsewhere();
    if (kind === 'image') return { type: 'input_image', file_id: source.id, ...detailed };
    return { type: 'input_file', file_id: source.id, ...(name !== undefined && { filename: name }) };
  }
  switch (kind) {
    case 'image':
      return { type: 'input_image', image_url: mediaUrl(media, 'image/png'), ...detailed };
    case 'document': {
      const filename = name ?? title;
      if (source.type === 'url') return { type: 'input_file', file_url: source.url, ...(filename && { filename }) };
      if (media.mimeType?.startsWith('text/') && filename === undefined) {
        return { type: 'input_text', text: Buffer.from(source.base64, 'base64').toString() };
      }
      return {
        type: 'input_file',
        filename: filename ?? 'document.pdf',
        file_data: media.mimeType === undefined ? source.base64 : mediaUrl(media, media.mimeType),
      };
    }
    case 'audio': {
      if (source.type === 'url') return lost('Audio was dropped: this model accepts it only inline.', kind, losses);
      const mimeType = media.mimeType ?? 'audio/wav';
      const format = openaiAudioFormat(mimeType);
      return { type: 'input_audio', input_audio: { data: source.base64, format } };
    }
    case 'video':
      return lost('A video was dropped: the model’s format has no videos.', kind, losses);
    default:
      return kind satisfies never;
  }
}

function lost(loss: string, kind: string, losses: Set<string>): JsonObject {
  losses.add(loss);
  return { type: 'input_text', text: `[${kind}]` };
}

function fileElsewhere(): GatewayError {
  return new GatewayError(
    'file_reference_unsupported',
    "This model cannot read a file that is stored at another provider: send the file's data inline.",
    { param: 'messages' },
  );
}
