/**
 * Shared by video providers: the provider row, JSON requests and responses, images and sizes, and warnings for dropped
 * members.
 */
import type { GatewayError } from '../../canonical/errors.ts';
import { isObject, type Json, type JsonObject } from '../../canonical/json.ts';
import type { Image, TaskError, TaskState, VideoAsk } from '../../canonical/task.ts';
import { readOpenaiError } from '../../dialects/shared/openai-errors.ts';
import { authorizeByBearer } from '../chat/openai-compatible.ts';
import type { Outgoing } from '../outgoing.ts';
import type { Provider } from '../provider.ts';
import { type Answered, unreadable } from './video.ts';

type Row = Pick<Provider, 'name' | 'baseUrl' | 'credentialVariable' | 'video'> & Partial<Provider>;

/** A provider that only generates videos. */
export function videoProvider(row: Row): Provider {
  return { needsCredential: true, speaks: {}, url: ({ baseUrl }) => baseUrl, authorize: authorizeByBearer, ...row };
}

export function posting(url: string, members: JsonObject, headers: { [name: string]: string } = {}): Outgoing {
  const body = new TextEncoder().encode(JSON.stringify(members));
  return { method: 'POST', url, headers: { 'content-type': 'application/json', ...headers }, body };
}

export function asking(url: string, method = 'GET'): Outgoing {
  return { method, url, headers: {}, body: undefined };
}

/** The members of the response. Throws the provider's error. */
export function membersIn({ status, headers, body }: Answered): JsonObject {
  if (status >= 300) throw readOpenaiError(status, headers, body);
  try {
    const members: unknown = JSON.parse(new TextDecoder().decode(body));
    if (isObject(members)) return members;
  } catch {
    // Reported below.
  }
  throw unreadable();
}

/** An error in a response with status 200. */
export function refusalIn(status: number, { headers }: Answered, message: Json | undefined): GatewayError {
  return readOpenaiError(status, headers, new TextEncoder().encode(JSON.stringify({ message: message ?? '' })));
}

export function memberOf(members: JsonObject, name: string): JsonObject {
  const member = members[name];
  return isObject(member) ? member : {};
}

export function requiredText(value: Json | undefined): string {
  if (typeof value === 'string' && value !== '') return value;
  if (typeof value === 'number') return String(value);
  throw unreadable();
}

/** An unknown status means that the task is still running. */
export function stateOf(words: { readonly [word: string]: TaskState }, word: Json | undefined): TaskState {
  return words[String(word)] ?? 'in_progress';
}

/** Maps a provider's statuses to task states. */
export function wordsFor(states: Record<TaskState, readonly string[]>): { readonly [word: string]: TaskState } {
  const pairs = Object.entries(states).flatMap(([state, words]) => words.map((word) => [word, state]));
  return Object.fromEntries(pairs);
}

export function failure(code: Json | undefined, message: Json | undefined): TaskError {
  return {
    code: typeof code === 'string' && code !== '' ? code : 'generation_failed',
    message: typeof message === 'string' && message !== '' ? message : 'The model could not make the video.',
  };
}

export function imageOf({ images }: VideoAsk, role: Image['role']): Image | undefined {
  return images.find((image) => image.role === role);
}

/** A URL or a data URL. */
export function addressOf({ source }: Image): string {
  return source.type === 'url' ? source.url : `data:${source.mimeType ?? 'image/png'};base64,${source.base64}`;
}

const RATIOS = ['16:9', '9:16', '1:1', '4:3', '3:4', '3:2', '2:3', '21:9', '9:21'];
/** Encoders round sizes: 1248x704 means 16:9. */
const ABOUT_THE_SAME = 0.03;

/** The nearest common aspect ratio, such as `16:9`, if the size is close to one. */
export function ratioOf({ aspectRatio, width, height }: VideoAsk): string | undefined {
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
export function resolutionOf({ resolution, width, height }: VideoAsk, classes = CLASSES): string | undefined {
  if (resolution !== undefined || width === undefined || height === undefined) return resolution;
  const lines = Math.sqrt((width * height * 9) / 16);
  const [nearest = lines] = classes.toSorted((one, other) => Math.abs(one - lines) - Math.abs(other - lines));
  return `${nearest}p`;
}

const LOSSES = {
  negativePrompt: '`negative_prompt` was dropped',
  fps: '`fps` was dropped',
  seed: '`seed` was dropped',
  size: '`size` was dropped',
  /** The aspect ratio is still sent. */
  exactSize: '`size` was sent as its aspect ratio only',
  sizeShape: '`size` was sent as its resolution only',
  aspectRatio: '`aspect_ratio` was dropped',
  resolution: '`resolution` was dropped',
  n: '`n` was dropped',
  last: '`image_tail` was dropped',
  reference: 'An image that neither begins nor ends the video was dropped',
} as const;
export type Loss = keyof typeof LOSSES;

/**
 * A video that begins with an image has the image's aspect ratio. For others a provider that only knows ratios is sent
 * the ratio.
 */
export function shapeLosses(framed: boolean): readonly Loss[] {
  return framed ? ['size', 'aspectRatio'] : ['exactSize'];
}

/** A warning for each of these that the request has. */
export function dropped(ask: VideoAsk, ...unsayable: readonly Loss[]): string[] {
  return unsayable
    .filter((loss) => isAskedFor(ask, loss))
    .map((loss) => `${LOSSES[loss]}: the provider does not take it.`);
}

function isAskedFor(ask: VideoAsk, loss: Loss): boolean {
  switch (loss) {
    case 'n':
      return ask.n !== 1;
    case 'size':
    case 'exactSize':
    case 'sizeShape':
      return ask.width !== undefined || ask.height !== undefined;
    case 'last':
    case 'reference':
      return imageOf(ask, loss) !== undefined;
    default:
      return ask[loss] !== undefined;
  }
}

/** Removes members without a value. */
export function said(members: { [name: string]: Json | undefined }): JsonObject {
  return Object.fromEntries(Object.entries(members).filter((pair): pair is [string, Json] => pair[1] !== undefined));
}
