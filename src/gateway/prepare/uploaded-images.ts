/** Images that came as files, read into memory for targets that do not take files in a form. */
import type { Call, Image, ImageCall, Media, UploadedImage } from '../../canonical/call.ts';
import { gathered } from '../../canonical/upload.ts';

/** Reads the uploads one after another: no more is in memory at once than the largest body that is accepted. */
export async function withInlineUploads(call: ImageCall): Promise<ImageCall> {
  const images: Image[] = [];
  for (const image of call.images) images.push(await inlineImage(image));
  return { ...call, images, ...(call.mask && { mask: await inlineImage(call.mask) }) };
}

/** Whether images of the call came as files. */
export function hasUploads(call: Call): call is ImageCall {
  return call.kind === 'image' && (call.images.some(isUploaded) || (call.mask !== undefined && isUploaded(call.mask)));
}

export function isUploaded(image: Image): image is UploadedImage {
  return image.source.type === 'upload';
}

async function inlineImage(image: Image): Promise<Media> {
  if (!isUploaded(image)) return image;
  const { buffer } = await gathered(image.source.upload);
  return { ...image, source: { type: 'inline', base64: Buffer.from(buffer).toString('base64') } };
}
