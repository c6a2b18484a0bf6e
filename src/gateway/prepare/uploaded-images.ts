/** Images that came as files: sent from where they lie where the target is sent a form, read into memory for all others. */
import type { Image, ImageCall, Media, UploadedImage } from '../../canonical/call.ts';
import { gathered } from '../../canonical/upload.ts';
import type { Quirks, VendorDialect } from '../../dialects/dialect.ts';
import type { Target } from '../../providers/provider.ts';

/** What is asked, and in which format. */
interface Route {
  readonly dialect: VendorDialect;
  readonly target: Target;
  readonly quirks: Quirks;
}

export function isUploaded(image: Image): image is UploadedImage {
  return image.source.type === 'upload';
}

/** The call as this target can be told it; no more is read than the largest body holds. */
export async function withUploadsFor({ dialect, target, quirks }: Route, call: ImageCall): Promise<ImageCall> {
  const { images, mask } = call;
  const hasNone = !images.some(isUploaded) && !(mask && isUploaded(mask));
  if (hasNone || dialect.takesUploads?.(call, target.model, quirks)) return call;
  const inline: Image[] = [];
  for (const image of images) inline.push(await inlineImage(image));
  return { ...call, images: inline, ...(mask && { mask: await inlineImage(mask) }) };
}

async function inlineImage(image: Image): Promise<Media> {
  if (!isUploaded(image)) return image;
  const { buffer } = await gathered(image.source.upload);
  return { ...image, source: { type: 'inline', base64: Buffer.from(buffer).toString('base64') } };
}
