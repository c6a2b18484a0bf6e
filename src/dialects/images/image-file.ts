/** An image as a file of a multipart form. */
import type { Image } from '../../canonical/call.ts';
import { uploadOf } from '../../canonical/upload.ts';
import type { FormFile } from '../wire/multipart.ts';

/** The image is an upload or inline: URLs were fetched before. */
export function imageFile({ source, mimeType = 'image/png' }: Image, name: string, filename: string): FormFile {
  const upload =
    source.type === 'upload'
      ? source.upload
      : uploadOf(Buffer.from(source.type === 'inline' ? source.base64 : '', 'base64'));
  return { name, filename, contentType: mimeType, upload };
}
