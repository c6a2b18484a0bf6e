/** `input_audio.format` of OpenAI's formats. */
import { entryOf } from '../../../canonical/entry-of.ts';

const FORMATS: { readonly [mimeType: string]: string } = {
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
  'audio/x-wav': 'wav',
  'audio/wave': 'wav',
  'audio/pcm': 'pcm16',
};

/** The name of a media type: of others it is their subtype (`audio/ogg` is `ogg`). */
export function openaiAudioFormat(mimeType: string): string {
  return entryOf(FORMATS, mimeType) ?? mimeType.slice(mimeType.indexOf('/') + 1);
}
