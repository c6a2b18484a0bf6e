/** Media as providers take them: a URL, or a file of a multipart form. */
import type { Image } from '../../canonical/call.ts';
import { uploadOf } from '../../canonical/upload.ts';
import type { FormFile } from '../wire/multipart.ts';

/** Its own URL, or a `data:` URL of its bytes. `usual`: the media type if the client gave none. */
export function mediaUrl({ source, mimeType }: Image, usual = 'image/png'): string {
  if (source.type === 'url') return source.url;
  return source.type === 'inline' ? `data:${mimeType ?? usual};base64,${source.base64}` : '';
}

/** The image is an upload or inline: URLs were fetched before. */
export function imageFile({ source, mimeType = 'image/png' }: Image, name: string, filename: string): FormFile {
  const upload =
    source.type === 'upload'
      ? source.upload
      : uploadOf(Buffer.from(source.type === 'inline' ? source.base64 : '', 'base64'));
  return { name, filename, contentType: mimeType, upload };
}
