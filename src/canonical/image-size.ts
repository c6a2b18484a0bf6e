/** Parses image sizes, and finds the nearest size that a model supports. Pure functions. */
import { entryOf } from './entry-of.ts';

export interface PixelSize {
  width: number;
  height: number;
}

/** A requested size: pixels, or an aspect ratio and a resolution class. */
export interface ImageSize {
  pixels?: PixelSize;
  /** `16:9` */
  aspectRatio?: string;
  /** `1K`, `2K`, `3K`, `4K`, `512` */
  fineness?: string;
}

const PIXELS = /^(\d{1,5})\s*[x*×]\s*(\d{1,5})$/i;
/** Some phones are 9:19.5. */
const RATIO = /^(\d{1,2}(?:\.\d)?):(\d{1,2}(?:\.\d)?)$/;
const FINENESS = /^(512|[1-4]K)$/i;
const MOST_PIXELS_A_SIDE = 8192;

/** Parses `1024x1024`, `1024*1024`, `16:9` and `2K`; `auto` is an empty size. `undefined` for other text. */
export function readImageSize(text: string): ImageSize | undefined {
  const trimmed = text.trim();
  if (trimmed === '' || trimmed.toLowerCase() === 'auto') return {};
  if (FINENESS.test(trimmed)) return { fineness: trimmed.toUpperCase() };
  const ratio = RATIO.exec(trimmed);
  if (ratio) return Number(ratio[1]) > 0 && Number(ratio[2]) > 0 ? { aspectRatio: trimmed } : undefined;
  const pixels = readPixels(trimmed);
  return pixels && { pixels };
}

/** Parses `1024x768`. `undefined` if the text is not a size, or no image can have it. */
export function readPixels(text: string): PixelSize | undefined {
  const match = PIXELS.exec(text.trim());
  const [width, height] = [Number(match?.[1] ?? 0), Number(match?.[2] ?? 0)];
  const fits = (side: number) => side > 0 && side <= MOST_PIXELS_A_SIDE;
  return fits(width) && fits(height) ? { width, height } : undefined;
}

export function writePixels({ width, height }: PixelSize, mark = 'x'): string {
  return `${width}${mark}${height}`;
}

const SIDES: { readonly [fineness: string]: number } = { '512': 512, '1K': 1024, '2K': 2048, '3K': 3072, '4K': 4096 };
/** Width and height that every model supports are multiples of this. */
const GRID = 32;

/** The pixels of a size given in other terms, or `undefined` if nothing is given. */
export function pixelsOf({ pixels, aspectRatio, fineness }: ImageSize): PixelSize | undefined {
  if (pixels || (aspectRatio === undefined && fineness === undefined)) return pixels;
  const side = SIDES[fineness ?? '1K'] ?? 1024;
  const ratio = ratioOf(aspectRatio ?? '1:1');
  const onGrid = (length: number) => Math.max(GRID, Math.round(length / GRID) * GRID);
  return { width: onGrid(side * Math.sqrt(ratio)), height: onGrid(side / Math.sqrt(ratio)) };
}

/** Width divided by height. */
function ratioOf(aspectRatio: string): number {
  const [width = 1, height = 1] = aspectRatio.split(':').map(Number);
  return width / height;
}

/** The aspect ratio of a size as a number, if it has one. */
function shapeOf({ pixels, aspectRatio }: ImageSize): number | undefined {
  if (pixels) return pixels.width / pixels.height;
  return aspectRatio === undefined ? undefined : ratioOf(aspectRatio);
}

/** The value to send to a model, and whether it equals the requested one. */
export interface Fitted {
  nearest: string;
  exact: boolean;
}

/** Aspect ratios within this tolerance are equal, because sides are rounded. */
const SAME_SHAPE = 0.03;

/** The nearest of these aspect ratios, or `undefined` if none is requested. */
export function nearestRatio(size: ImageSize, ratios: readonly string[]): Fitted | undefined {
  const shape = shapeOf(size);
  if (shape === undefined) return undefined;
  const far = (ratio: string) => Math.abs(Math.log(ratioOf(ratio) / shape));
  const nearest = ratios.toSorted((a, b) => far(a) - far(b))[0];
  return nearest === undefined ? undefined : { nearest, exact: far(nearest) <= SAME_SHAPE };
}

/** The nearest of these sizes (`1024x1024`), by aspect ratio first. `undefined` if no size is requested. */
export function nearestSize(size: ImageSize, sizes: readonly string[]): Fitted | undefined {
  const wanted = pixelsOf(size);
  if (!wanted) return undefined;
  const asked = wanted.width * wanted.height;
  const far = (text: string) => {
    const { width, height } = readPixels(text) ?? { width: 1, height: 1 };
    const shape = Math.abs(Math.log((width * wanted.height) / (height * wanted.width)));
    return 4 * shape + Math.abs(Math.log((width * height) / asked));
  };
  const nearest = sizes.toSorted((a, b) => far(a) - far(b))[0];
  return nearest === undefined ? undefined : { nearest, exact: far(nearest) < SAME_SHAPE };
}

/** The resolution class (`1K` …) of these pixels. */
export function finenessOf({ pixels, fineness }: ImageSize): string | undefined {
  if (fineness !== undefined || !pixels) return fineness;
  const side = Math.sqrt(pixels.width * pixels.height);
  if (side <= 1536) return '1K';
  return side <= 3072 ? '2K' : '4K';
}

/** The sizes that a model supports. Absent members are not limited. */
export interface ImageBounds {
  /** Width and height are multiples of this. */
  grid?: number;
  leastSide?: number;
  mostSide?: number;
  /** Pixels in total. */
  least?: number;
  most?: number;
  /** The maximum ratio of the longer to the shorter side. */
  mostRatio?: number;
}

/** The nearest size within these bounds, with the same aspect ratio if possible. */
export function boundedSize({ width, height }: PixelSize, bounds: ImageBounds): PixelSize {
  const { grid = 1, leastSide = 1, mostSide = MOST_PIXELS_A_SIDE, mostRatio = MOST_PIXELS_A_SIDE } = bounds;
  const { least = 1, most = MOST_PIXELS_A_SIDE ** 2 } = bounds;
  const ratio = between(width / height, 1 / mostRatio, mostRatio);
  const area = between(width * height, least, most);
  const [across, down] = [Math.sqrt(area * ratio), Math.sqrt(area / ratio)];
  const smaller = Math.min(1, mostSide / Math.max(across, down));
  const scale = smaller * Math.max(1, leastSide / (smaller * Math.min(across, down)));
  // Rounded again, because square roots of an exact size may not be integers.
  const side = (length: number) => Math.round(between(length * scale, leastSide, mostSide) * 1000) / 1000;
  const fits = (size: PixelSize) => {
    const [shorter, longer] = [Math.min(size.width, size.height), Math.max(size.width, size.height)];
    const area = shorter * longer;
    return shorter >= leastSide && longer <= mostSide && area >= least && area <= most && longer <= shorter * mostRatio;
  };
  const rounded = [Math.round, Math.ceil, Math.floor].map((round) => ({
    width: Math.max(1, round(side(across) / grid)) * grid,
    height: Math.max(1, round(side(down) / grid)) * grid,
  }));
  return rounded.find(fits) ?? rounded.at(-1) ?? { width, height };
}

const between = (value: number, least: number, most: number) => Math.min(Math.max(value, least), most);

const LINES: { readonly [word: string]: number } = {
  '2k': 1440,
  qhd: 1440,
  '4k': 2160,
  uhd: 2160,
  '8k': 4320,
  hd: 720,
  fhd: 1080,
};

/** The pixels of a video resolution (`720p`, `4K`) at 16:9. An unknown word is infinite. */
export function pixelsOfResolution(resolution: string): number {
  const word = resolution.trim().toLowerCase();
  const lines = entryOf(LINES, word) ?? Number(/^(\d{3,4})p?$/.exec(word)?.[1] ?? Number.POSITIVE_INFINITY);
  return (lines * lines * 16) / 9;
}
