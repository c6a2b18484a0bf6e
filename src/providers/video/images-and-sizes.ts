/** Images, aspect ratios and resolutions in the words of video providers. */
import type { TaskImage, VideoCall } from '../../canonical/task.ts';

export function imageOf({ images }: VideoCall, role: TaskImage['role']): TaskImage | undefined {
  return images.find((image) => image.role === role);
}

/** A URL or a data URL. */
export function imageAddress({ source }: TaskImage): string {
  return source.type === 'url' ? source.url : `data:${source.mimeType ?? 'image/png'};base64,${source.base64}`;
}

const RATIOS = ['16:9', '9:16', '1:1', '4:3', '3:4', '3:2', '2:3', '21:9', '9:21'];
/** Encoders round sizes: 1248x704 means 16:9. */
const ABOUT_THE_SAME = 0.03;

/** The nearest common aspect ratio, such as `16:9`, if the size is close to one. */
export function ratioOf({ aspectRatio, width, height }: VideoCall): string | undefined {
  if (aspectRatio !== undefined || width === undefined || height === undefined) return aspectRatio;
  const off = (ratio: string) => Math.abs(width / height / quotientOf(ratio) - 1);
  const [nearest = ''] = RATIOS.toSorted((one, other) => off(one) - off(other));
  if (off(nearest) <= ABOUT_THE_SAME) return nearest;
  const divisor = greatestDivisor(width, height);
  return `${width / divisor}:${height / divisor}`;
}

function quotientOf(ratio: string): number {
  const [width = 1, height = 1] = ratio.split(':').map(Number);
  return width / height;
}

function greatestDivisor(one: number, other: number): number {
  return other === 0 ? one : greatestDivisor(other, one % other);
}

/** Heights of 16:9 videos. */
const CLASSES: readonly number[] = [240, 360, 480, 540, 720, 768, 1080, 1440, 2160];

/**
 * The resolution class, such as `720p`. A size belongs to the class with the same number of pixels: 960x960 is 720p.
 */
export function resolutionOf({ resolution, width, height }: VideoCall, classes = CLASSES): string | undefined {
  if (resolution !== undefined || width === undefined || height === undefined) return resolution;
  const lines = Math.sqrt((width * height * 9) / 16);
  const [nearest = lines] = classes.toSorted((one, other) => Math.abs(one - lines) - Math.abs(other - lines));
  return `${nearest}p`;
}
