/** Pictures that came as files: sent from where they lie where the target is sent a form, read into memory for all others. */
import type { ImageCall, Media, Picture, UploadedPicture } from '../canonical/call.ts';
import { gathered } from '../canonical/upload.ts';
import type { Way } from './way.ts';

export function isUploaded(picture: Picture): picture is UploadedPicture {
  return picture.source.type === 'upload';
}

/** The call as this target can be told it; no more is read than the largest body holds. */
export async function withUploadsFor({ dialect, target, quirks }: Way, call: ImageCall): Promise<ImageCall> {
  const { pictures, mask } = call;
  const hasNone = !pictures.some(isUploaded) && !(mask && isUploaded(mask));
  if (hasNone || dialect.takesUploads?.(call, target.model, quirks)) return call;
  const inline: Picture[] = [];
  for (const picture of pictures) inline.push(await inlinePicture(picture));
  return { ...call, pictures: inline, ...(mask && { mask: await inlinePicture(mask) }) };
}

async function inlinePicture(picture: Picture): Promise<Media> {
  if (!isUploaded(picture)) return picture;
  const { buffer } = await gathered(picture.source.upload);
  return { ...picture, source: { type: 'inline', base64: Buffer.from(buffer).toString('base64') } };
}
