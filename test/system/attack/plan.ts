/** One request of a storm: what its client and provider do, chosen at random before it is sent. */
import { randomNumbers } from '../../upstream/answer.ts';

/** What the provider does; the second half are false reports and failures. */
export const PROVIDER_WAYS = [
  'honest',
  'reasoning-hidden',
  'usage-missing',
  'usage-zero',
  'usage-non-finite',
  'usage-huge',
  'total-huge',
  'usage-decreasing',
  'two-starts',
  'text-after-finish',
  'unfinished',
  'error-in-200',
  'refused-with-credential',
  'cut-before-headers',
  'reset-midway',
] as const;
export type ProviderWay = (typeof PROVIDER_WAYS)[number];

/** When the client disconnects. */
export const CLIENT_WAYS = ['stays', 'before-sent', 'before-first-byte', 'mid-stream', 'after-finish'] as const;
export type ClientWay = (typeof CLIENT_WAYS)[number];

/** Three models: one for images, one whose upstream is cancelled when the client disconnects, one whose upstream is read to its end. */
export const MODELS = { abort: 'storm-abort', drain: 'storm-drain', image: 'storm-image' } as const;
export type Policy = 'abort' | 'drain';
/** What the provider of images does. */
const IMAGE_WAYS: readonly ProviderWay[] = [
  ...(['honest', 'honest', 'honest', 'error-in-200', 'refused-with-credential'] as const),
  ...(['cut-before-headers', 'reset-midway'] as const),
];
/** The held output of a call without a limit. It costs less than two tokens of input, so that a bill of the whole hold shows its input. */
export const MOST_OUTPUT = 900;

export interface Plan {
  /** Part of the prompt, so that the provider knows the plan. */
  tag: string;
  gateway: number;
  caller: number;
  policy: Policy;
  path: '/v1/chat/completions' | '/v1/messages' | '/v1/images/generations';
  /** The number of images; 0: a chat call. */
  images: number;
  stream: boolean;
  body: string;
  /** Output tokens that are held for. */
  ceiling: number;
  provider: ProviderWay;
  client: ClientWay;
  words: number;
  paceMs: number;
  /** The provider's delay before its answer. */
  silenceMs: number;
  /** When the client disconnects before the first byte. */
  leaveMs: number;
  /** The gateway's estimate of the input; even, and unique among plans. */
  estimatedInput: number;
  /** The input that the provider reports; odd. */
  reportedInput: number;
}

export type Draw = ReturnType<typeof randomNumbers>;

/** Each word is one token of four characters: tokenizer and estimate by length agree. */
export const WORD = ' the';

/** The larger of two spellings of one limit is dropped and not counted. */
const LARGER_LIMIT = ',"max_tokens":9999';
/** Input is estimated at three bytes per token, plus 80 for every conversation. */
const estimateOf = (body: string) => Math.ceil(body.replace(LARGER_LIMIT, '').length / 3 + 80);

/** Makes plans with unique estimated inputs, so that a bill identifies its plan. */
export function createPlanner(seed: number, gateways: number, callers: number) {
  const draw = randomNumbers(seed);
  let count = 0;
  const oneOf = <T>(values: readonly T[]): T => values[draw(values.length)]!;

  function plan(): Plan {
    const tag = `<storm-${++count}>`;
    return draw(8) === 0 ? imagePlan(tag) : chatPlan(tag);
  }

  function imagePlan(tag: string): Plan {
    const images = 1 + draw(3);
    const estimatedInput = LEAST_ESTIMATE + 2 * count;
    // Three bytes per token, and two tokens around a text.
    const prompt = `${tag} `.padEnd(3 * (estimatedInput - 2), 'x');
    return {
      ...common(tag),
      policy: 'abort',
      path: '/v1/images/generations',
      stream: false,
      images,
      body: JSON.stringify({ model: MODELS.image, prompt, n: images }),
      ceiling: 0,
      provider: oneOf(IMAGE_WAYS),
      words: 0,
      estimatedInput,
      reportedInput: estimatedInput + 1,
    };
  }

  /** Random choices that all plans share. */
  function common(tag: string) {
    return {
      tag,
      gateway: draw(gateways),
      caller: draw(callers),
      client: draw(10) < 5 ? ('stays' as const) : oneOf(CLIENT_WAYS),
      paceMs: 5 + draw(60),
      silenceMs: draw(3) === 0 ? draw(400) : 0,
      leaveMs: draw(300),
    };
  }

  function chatPlan(tag: string): Plan {
    const provider = draw(10) < 5 ? 'honest' : oneOf(PROVIDER_WAYS);
    const path = draw(4) === 0 ? '/v1/messages' : '/v1/chat/completions';
    const stream = draw(4) > 0;
    const policy = draw(3) === 0 ? 'drain' : 'abort';
    // The other spelling has a larger value: the smaller one is held for and sent.
    const limits =
      path === '/v1/messages'
        ? { max_tokens: 600 }
        : draw(2) === 0
          ? {}
          : { max_completion_tokens: 600, max_tokens: 9999 };
    const request = { model: MODELS[policy], stream, ...limits };
    const body = padded(
      { ...request, ...(stream && path !== '/v1/messages' && draw(2) === 0 && INCLUDE_USAGE) },
      tag,
      count,
    );
    const estimatedInput = estimateOf(body);
    return {
      ...common(tag),
      policy,
      path,
      stream,
      images: 0,
      body,
      ceiling: 'max_tokens' in limits ? 600 : MOST_OUTPUT,
      provider,
      words: 3 + draw(40),
      estimatedInput,
      reportedInput: estimatedInput + 1,
    };
  }
  return { plan, draw };
}

const INCLUDE_USAGE = { stream_options: { include_usage: true } };
/** Space for everything in a body except its padding; two estimated tokens are six bytes. */
const LEAST_BYTES = 330;
/** Of such a body, at three bytes per token plus 80. */
const LEAST_ESTIMATE = LEAST_BYTES / 3 + 80;

function padded(request: object, tag: string, count: number): string {
  const write = (filling: string) =>
    JSON.stringify({ ...request, messages: [{ role: 'user', content: `${tag} ${filling}` }] });
  const missing = LEAST_BYTES + 6 * count - write('').replace(LARGER_LIMIT, '').length;
  return write('x'.repeat(missing));
}
