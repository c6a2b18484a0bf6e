/**
 * The sandbox's videos: a small MP4 (H.264) for each shape and length, made once by `scripts/sandbox/make-clips.ts`. What a caller asks for
 * is answered by the nearest one; the file has its own size and length, and the task the requested ones.
 */
import rows from './clips.json' with { type: 'json' };

export interface Clip {
  width: number;
  height: number;
  seconds: number;
  /** The file. */
  base64: string;
}

const CLIPS: readonly Clip[] = rows;

/** The clip whose shape is nearest to the requested one, and of those the one of the nearest length; between two, the longer one. */
export function nearestClip(asked: Omit<Clip, 'base64'>): Clip {
  const [nearest] = CLIPS.toSorted(
    (a, b) =>
      shapeDistance(a, asked) - shapeDistance(b, asked) ||
      Math.abs(a.seconds - asked.seconds) - Math.abs(b.seconds - asked.seconds) ||
      b.seconds - a.seconds,
  );
  if (!nearest) throw new Error('The sandbox has no clips.');
  return nearest;
}

/** How far two shapes are from each other: the same for 16:9 beside 4:3 as for 9:16 beside 3:4. */
function shapeDistance(a: Omit<Clip, 'base64' | 'seconds'>, b: Omit<Clip, 'base64' | 'seconds'>): number {
  return Math.abs(Math.log(a.width / a.height) - Math.log(b.width / b.height));
}
