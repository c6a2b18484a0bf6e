/** Sizes of images as people write them, and the nearest of those a model can draw. Pure. */

export interface PixelSize {
  width: number;
  height: number;
}

/** What is known of the image that is wanted: its pixels, or its shape and how fine it is to be. */
export interface ImageSize {
  pixels?: PixelSize;
  /** `16:9` */
  aspectRatio?: string;
  /** `1K`, `2K`, `3K`, `4K`, `512` */
  fineness?: string;
}

const PIXELS = /^(\d{1,5})\s*[x*×]\s*(\d{1,5})$/i;
/** Some telephones are 9:19.5. */
const RATIO = /^(\d{1,2}(?:\.\d)?):(\d{1,2}(?:\.\d)?)$/;
const FINENESS = /^(512|[1-4]K)$/i;
const MOST_PIXELS_A_SIDE = 8192;

/** `1024x1024`, `1024*1024`, `16:9`, `2K`; `auto` says nothing; `undefined` where the text is none of them. */
export function readImageSize(text: string): ImageSize | undefined {
  const said = text.trim();
  if (said === '' || said.toLowerCase() === 'auto') return {};
  if (FINENESS.test(said)) return { fineness: said.toUpperCase() };
  const ratio = RATIO.exec(said);
  if (ratio) return Number(ratio[1]) > 0 && Number(ratio[2]) > 0 ? { aspectRatio: said } : undefined;
  const pixels = readPixels(said);
  return pixels && { pixels };
}

/** `1024x768`; `undefined` where it is no size, or no image has it. */
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
/** Sides that every model can draw are multiples of this. */
const GRID = 32;

/** Pixels of a size that is said in other words; `undefined` where nothing is said. */
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

/** The shape of a size that says one, as a number. */
function shapeOf({ pixels, aspectRatio }: ImageSize): number | undefined {
  if (pixels) return pixels.width / pixels.height;
  return aspectRatio === undefined ? undefined : ratioOf(aspectRatio);
}

/** What a model can be told in the place of what was asked for, and whether that is the same. */
export interface Fitted {
  said: string;
  exact: boolean;
}

/** Shapes may differ this much and count as the same: sides are rounded. */
const SAME_SHAPE = 0.03;

/** The nearest of these aspect ratios; `undefined` where no shape is asked for. */
export function nearestRatio(size: ImageSize, ratios: readonly string[]): Fitted | undefined {
  const shape = shapeOf(size);
  if (shape === undefined) return undefined;
  const far = (ratio: string) => Math.abs(Math.log(ratioOf(ratio) / shape));
  const said = ratios.toSorted((a, b) => far(a) - far(b))[0];
  return said === undefined ? undefined : { said, exact: far(said) <= SAME_SHAPE };
}

/** The nearest of these sizes (`1024x1024`), by shape first; `undefined` where no size is asked for. */
export function nearestSize(size: ImageSize, sizes: readonly string[]): Fitted | undefined {
  const wanted = pixelsOf(size);
  if (!wanted) return undefined;
  const asked = wanted.width * wanted.height;
  const far = (text: string) => {
    const { width, height } = readPixels(text) ?? { width: 1, height: 1 };
    const shape = Math.abs(Math.log((width * wanted.height) / (height * wanted.width)));
    return 4 * shape + Math.abs(Math.log((width * height) / asked));
  };
  const said = sizes.toSorted((a, b) => far(a) - far(b))[0];
  return said === undefined ? undefined : { said, exact: far(said) < SAME_SHAPE };
}

/** The fineness (`1K` …) that these pixels ask for. */
export function finenessOf({ pixels, fineness }: ImageSize): string | undefined {
  if (fineness !== undefined || !pixels) return fineness;
  const side = Math.sqrt(pixels.width * pixels.height);
  if (side <= 1536) return '1K';
  return side <= 3072 ? '2K' : '4K';
}

/** What a model can draw; what is absent is not bounded. */
export interface ImageBounds {
  /** Sides are multiples of this. */
  grid?: number;
  leastSide?: number;
  mostSide?: number;
  /** Pixels in all. */
  least?: number;
  most?: number;
  /** The longer side is at most so many times the shorter. */
  mostRatio?: number;
}

/** The nearest size within these bounds, of the same shape where that can be. */
export function boundedSize({ width, height }: PixelSize, bounds: ImageBounds): PixelSize {
  const { grid = 1, leastSide = 1, mostSide = MOST_PIXELS_A_SIDE, mostRatio = MOST_PIXELS_A_SIDE } = bounds;
  const { least = 1, most = MOST_PIXELS_A_SIDE ** 2 } = bounds;
  const ratio = between(width / height, 1 / mostRatio, mostRatio);
  const area = between(width * height, least, most);
  const [across, down] = [Math.sqrt(area * ratio), Math.sqrt(area / ratio)];
  const smaller = Math.min(1, mostSide / Math.max(across, down));
  const scale = smaller * Math.max(1, leastSide / (smaller * Math.min(across, down)));
  // Whole again where the roots of a size that fits are not.
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

/** Of a video's resolution (`720p`, `4K`), as one of 16:9; a word nobody knows is infinitely large. */
export function pixelsOfResolution(resolution: string): number {
  const word = resolution.trim().toLowerCase();
  const lines = LINES[word] ?? Number(/^(\d{3,4})p?$/.exec(word)?.[1] ?? Number.POSITIVE_INFINITY);
  return (lines * lines * 16) / 9;
}
