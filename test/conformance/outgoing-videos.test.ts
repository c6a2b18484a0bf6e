/**
 * Video orders in every format: the request to a provider of any type never asks for more pixels, seconds and videos than was held for if
 * tokens are billed, and for no larger size or more expensive mode if seconds are billed.
 */
import { describe, expect, test } from 'bun:test';
import { GatewayError } from '../../src/canonical/errors.ts';
import type { Json, JsonObject } from '../../src/canonical/json.ts';
import type { VideoCall } from '../../src/canonical/task.ts';
import { jimengVideos } from '../../src/dialects/video/jimeng.ts';
import { klingVideos } from '../../src/dialects/video/kling.ts';
import { openaiVideos } from '../../src/dialects/video/openai-videos.ts';
import type { VideoFormat } from '../../src/dialects/video/video-format.ts';
import { videoGenerations } from '../../src/dialects/video/video-generations.ts';
import { PROVIDERS } from '../../src/providers/index.ts';
import { withOwnMembers } from '../../src/providers/video/own-members.ts';
import { quoteVideo } from '../../src/tasks/video-price.ts';
import { withQuality, withTakenSize } from '../../src/tasks/video-quality.ts';
import { fc } from '../helpers/property.ts';

/** Nano-USD per token, which is a number of pixels of a frame. */
const PRICE = { output: 1_000_000n };
const NANO_PER_TOKEN = 1000;
const PIXELS_A_TOKEN = 1024;
const FRAMES_A_SECOND = 24;

const FORMATS: readonly (readonly [VideoFormat, JsonObject])[] = [
  [openaiVideos, { model: 'm', prompt: 'A cat' }],
  [videoGenerations, { model: 'm', prompt: 'A cat' }],
  [klingVideos, { model_name: 'm', prompt: 'A cat' }],
  [jimengVideos, { req_key: 'm', prompt: 'A cat' }],
];

const MODELS: { readonly [type: string]: readonly string[] } = {
  minimax: ['MiniMax-Hailuo-02', 'T2V-01'],
  dashscope: ['wan2.5-t2v-preview', 'wan2.7-t2v'],
  google: ['veo-3.0-generate-001'],
  runway: ['gen4.5', 'veo3.1'],
};

const TARGETS = [...PROVIDERS.values()].flatMap(({ name, video, baseUrl }) =>
  video
    ? (MODELS[name] ?? ['any-model']).map((model) => ({
        name: `${name} ${model}`,
        video,
        target: {
          model,
          baseUrl: baseUrl ?? 'http://upstream.test/v1',
          credential: 'key',
          settings: { region: 'us-east-1', project: 'p', location: 'global' },
        },
      }))
    : [],
);

const COUNT =
  /^(n|num|numvideos|numberofvideos|samplecount|numsamples|samples|variants|nvariants|batchsize|numoutputs)$/;
const SECONDS = /^(seconds|duration|durationseconds|nseconds|length|videolength)$/;
const RATE = /^(fps|framerate|framespersecond)$/;
const MEMBER = /"((?:[^"\\]|\\.)*)"\s*:\s*"?(-?\d+(?:\.\d+)?)"?\s*[,}]/g;
const SIDES = /\b(\d{3,5})\s*[x*:×]\s*(\d{3,5})\b/g;
const LINES = /\b(\d{3,4})p\b/gi;
/** Some models read settings from the prompt. */
const SPOKEN = /--(dur|duration|rs|resolution|frames|fps)\s+(\S+?)(?=[\s"\\]|$)/g;

/** Tokens of all videos that this body may order, in the worst interpretation. */
function permitted(
  body: string,
  defaultSeconds: number,
  { width: wide = 1920, height: high = 1088 }: VideoCall,
): number {
  let count = 1;
  let rate = FRAMES_A_SECOND;
  let seconds = 0;
  let frames = 0;
  let sides = { width: 0, height: 0 };
  for (const [, name = '', value] of body.matchAll(MEMBER)) {
    const plain = String(JSON.parse(`"${name}"`))
      .toUpperCase()
      .toLowerCase()
      .replace(/[_-]/g, '');
    const number = Number(value);
    if (COUNT.test(plain)) count = Math.max(count, number);
    if (SECONDS.test(plain)) seconds = Math.max(seconds, number);
    if (plain === 'durationms') seconds = Math.max(seconds, number / 1000);
    if (RATE.test(plain)) rate = Math.max(rate, number);
    if (/^(num)?frames$/.test(plain)) frames = Math.max(frames, number - 1);
    if (plain === 'width') sides = { ...sides, width: number };
    if (plain === 'height') sides = { ...sides, height: number };
  }
  let pixels = sides.width * sides.height;
  for (const [, width, height] of body.matchAll(SIDES)) pixels = Math.max(pixels, Number(width) * Number(height));
  for (const [, lines] of body.matchAll(LINES)) pixels = Math.max(pixels, (Number(lines) ** 2 * 16) / 9);
  if (/"(4k|uhd)"/i.test(body)) pixels = Math.max(pixels, 3840 * 2160);
  for (const [, name = '', value = ''] of body.matchAll(SPOKEN)) {
    if (name.startsWith('dur')) seconds = Math.max(seconds, Number(value));
    if (name.startsWith('r')) pixels = Math.max(pixels, (Number.parseInt(value, 10) ** 2 * 16) / 9);
    if (name === 'fps') rate = Math.max(rate, Number(value));
  }
  const length = Math.max(seconds, frames / FRAMES_A_SECOND) || defaultSeconds;
  // A provider without a size parameter has a size of its own with its price; otherwise the largest usual size is held for.
  return (count * length * rate * (pixels || wide * high)) / PIXELS_A_TOKEN;
}

const NAMES = fc.constantFrom(
  ...['n', 'N', 'num_videos', 'sampleCount', 'variants', 'batch_size', 'seconds', 'duration', 'durationSeconds'],
  ...['duration_ms', 'frames', 'num_frames', 'length', 'fps', 'frame_rate', 'size', 'resolution', 'Resolution'],
  ...['width', 'height', 'video_size'],
);
const VALUES = fc.constantFrom<Json>(
  1,
  2,
  4,
  '3',
  9,
  12,
  60,
  121,
  '8',
  720,
  1080,
  '480p',
  '720p',
  '1080p',
  '4k',
  '2160p',
);
const SIZES = fc.constantFrom<Json>('854x480', '1280x720', '1920x1080', '960x540', '3840x2160');
const NESTS = fc.constantFrom('', '', 'metadata', 'metadata', 'parameters', 'extra_body');
const SIZED = fc.tuple(NESTS, fc.constantFrom('size', 'video_size', 'output_size'), SIZES);
/** Kling's members that make a video more expensive. */
const COSTLIER = fc.tuple(
  NESTS,
  fc.constantFrom('mode', 'Mode', 'sound', 'SOUND', 'voice_list'),
  fc.constantFrom<Json>('std', 'pro', 'on', 'off', null, [], [{ voice_id: 'v' }]),
);
const BESIDE = fc.array(fc.oneof(fc.tuple(NESTS, NAMES, VALUES), SIZED, COSTLIER), {
  maxLength: 5,
});
const PLAIN = fc.constant('A cat');
/** Seedance reads settings from the prompt. */
const SPEAKING = fc.constantFrom('A cat', 'A cat --dur 30 --rs 1080p', 'A cat --resolution 2160p  --fps 60');

function orderOf(base: JsonObject, prompt: string, beside: readonly (readonly [string, string, Json])[]): JsonObject {
  const fields: JsonObject = { ...base, prompt };
  for (const [nest, name, value] of beside) {
    if (nest === '') fields[name] = value;
    else
      fields[nest] = {
        ...(fields[nest] as JsonObject | undefined),
        [name]: value,
      };
  }
  return fields;
}

/** The price of a second: nano-USD per line of a 16:9 frame, times the quality. */
const LINES_PRICED = [240, 360, 480, 512, 540, 720, 768, 1080, 1440, 2160];
const SIZES_PRICED = ['854x480', '960x540', '1280x720', '1920x1080', '3840x2160'];
const TIMES: { readonly [quality: string]: number } = { std: 1, pro: 2, 'std+sound': 3, 'pro+sound': 4 };
const NANO_PER_LINE = 1000;

const linesOf = (size: string) => {
  const [width = 0, height = 0] = size.split('x').map(Number);
  return Math.sqrt((width * height * 9) / 16);
};
const sizesPriced = [
  ...LINES_PRICED.map((lines) => [`${lines}p`, lines] as const),
  ...SIZES_PRICED.map((size) => [size, linesOf(size)] as const),
  ['4k', 2160] as const,
];
const clips = sizesPriced.flatMap(([size, lines]) => {
  const price = BigInt(Math.round(lines * NANO_PER_LINE));
  return [
    { size, price },
    ...Object.entries(TIMES).map(([quality, times]) => ({ size, quality, price: price * BigInt(times) })),
  ];
});
const BY_SECOND = { clips };

/** Lines times seconds times videos in the worst interpretation of this body. `defaultLines`: used if a body has no size. */
function permittedLines(body: string, defaultSeconds: number, defaultLines: number): number {
  const tokens = (of: string) => permitted(of, defaultSeconds, { width: 16, height: 9 } as VideoCall);
  const pixels = (tokens(body) / tokens(withoutSizes(body))) * 16 * 9;
  const lines = pixels > 16 * 9 ? Math.sqrt((pixels * 9) / 16) : defaultLines;
  const seconds =
    (tokens(withoutSizes(body.replace(/"(fps|frame_?rate|framespersecond)"/gi, '"_"'))) * PIXELS_A_TOKEN) / 16 / 9;
  return (lines * seconds) / FRAMES_A_SECOND;
}

const withoutSizes = (body: string) =>
  body
    .replace(SIDES, '')
    .replace(LINES, '')
    .replace(/"(4k|uhd|2k)"/gi, '""')
    .replace(/"(width|height)"/gi, '"_"');

/** A provider without a size parameter has a size of its own with its price. */
function requestedLines({ width, height }: VideoCall): number {
  if (width !== undefined && height !== undefined) return linesOf(`${width}x${height}`);
  return 720;
}

/** The price factor of Kling's own members, anywhere in a body. */
function costlierBy(body: string): number {
  const plain = body.toLowerCase();
  const mode = /"mode"\s*:\s*(?!"std"|null)/.test(plain) ? 2 : 1;
  const sound = /"sound"\s*:\s*(?!"off"|false|null)/.test(plain) ? 2 : 0;
  return /"voice_?list"\s*:\s*(?!\[\]|null)/.test(plain) ? Number.POSITIVE_INFINITY : mode + sound;
}

const RUNS = 60;

describe.each(TARGETS)('$name', ({ name, video, target }) => {
  test.each(FORMATS.map(([format, base]) => [format.name, format, base] as const))(
    'orders in %s never exceed their hold',
    (_, format, base) => {
      let arrived = 0;
      fc.assert(
        fc.property(BESIDE, name.startsWith('volcengine') ? SPEAKING : PLAIN, (beside, prompt) => {
          const fields = orderOf(base, prompt, beside);
          let bodies: string[];
          let held: number;
          let heldBySecond: number;
          let ask: VideoCall;
          try {
            const readAsk = format.readAsk({ fields });
            // As `tasks/video-tasks.ts` does: an order of several videos is several tasks if the provider generates one at a time.
            const count = readAsk.n > (video.mostVideos ?? 1) ? readAsk.n : 1;
            ask = {
              ...readAsk,
              ...(count > 1 && { n: 1 }),
              seconds: readAsk.seconds ?? video.defaultSeconds,
            };
            ask = withQuality(withTakenSize(ask, [video]), {
              adapters: [video],
              price: BY_SECOND,
              allowsUnpriced: false,
            });
            const { outgoing } = video.start(withOwnMembers(video, ask).ask, target, 'task-1');
            bodies = Array.from({ length: count }, () => Buffer.from(outgoing.body ?? []).toString());
            held = (Number(quoteVideo(ask, PRICE)) / NANO_PER_TOKEN) * count;
            heldBySecond = (Number(quoteVideo(ask, BY_SECOND)) / NANO_PER_LINE) * count;
          } catch (thrown) {
            if (thrown instanceof GatewayError) return;
            throw thrown;
          }
          arrived++;
          const permits = bodies.reduce((sum, body) => sum + permitted(body, video.defaultSeconds, ask), 0);
          // Lengths may be rounded to seconds, and sizes to the nearest class.
          if (permits > held * 1.3) throw new Error(JSON.stringify({ fields, bodies, permits, held }));
          const lines = bodies.reduce((sum, body) => {
            const times = video.qualityOf ? costlierBy(body) : 1;
            return sum + times * permittedLines(body, video.defaultSeconds, requestedLines(ask));
          }, 0);
          if (lines > heldBySecond * 1.3) throw new Error(JSON.stringify({ fields, bodies, lines, heldBySecond }));
        }),
        { numRuns: RUNS, seed: 20261122 },
      );
      expect(arrived).toBeGreaterThan(0);
    },
  );
});
