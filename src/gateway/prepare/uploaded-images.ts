/** Step: images that came as files are read into memory, unless the target takes them as files in a form. */
import type { Image, ImageCall, Media, UploadedImage } from '../../canonical/call.ts';
import { gathered } from '../../canonical/upload.ts';
import type { Step, TargetCall } from '../target-call.ts';

export const inlineUploads: Step = {
  applies: ({ call }) => call.kind === 'image' && hasUploads(call),

  async run(prepared: TargetCall) {
    const { call, route } = prepared;
    if (call.kind !== 'image' || route.dialect.takesUploads?.(call, route.target.model, route.quirks)) return;
    prepared.call = await withInlineImages(call);
  },
};

export function isUploaded(image: Image): image is UploadedImage {
  return image.source.type === 'upload';
}

function hasUploads({ images, mask }: ImageCall): boolean {
  return images.some(isUploaded) || (mask !== undefined && isUploaded(mask));
}

/** One after another: no more is in memory at once than the largest body that is accepted. */
async function withInlineImages(call: ImageCall): Promise<ImageCall> {
  const images: Image[] = [];
  for (const image of call.images) images.push(await inlineImage(image));
  return { ...call, images, ...(call.mask && { mask: await inlineImage(call.mask) }) };
}

async function inlineImage(image: Image): Promise<Media> {
  if (!isUploaded(image)) return image;
  const { buffer } = await gathered(image.source.upload);
  return { ...image, source: { type: 'inline', base64: Buffer.from(buffer).toString('base64') } };
}
