/** One request of a storm: what its client and its provider will do, decided by chance before it is sent. */
import { randomNumbers } from '../../upstream/answer.ts';

/** What the provider does; the later half are lies and failures. */
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

/** When the client leaves. */
export const CLIENT_WAYS = ['stays', 'before-sent', 'before-first-byte', 'mid-stream', 'after-finish'] as const;
export type ClientWay = (typeof CLIENT_WAYS)[number];

/** Three models: one of images, one whose upstream is cancelled when the client leaves, one whose upstream is read to its end. */
export const MODELS = { abort: 'storm-abort', drain: 'storm-drain', image: 'storm-image' } as const;
export type Policy = 'abort' | 'drain';
/** What the provider of images does. */
const IMAGE_WAYS: readonly ProviderWay[] = [
  ...(['honest', 'honest', 'honest', 'error-in-200', 'refused-with-credential'] as const),
  ...(['cut-before-headers', 'reset-midway'] as const),
];
/** What a call that names no limit is held for. */
export const MOST_OUTPUT = 1000;

export interface Plan {
  /** Stands in the prompt, so that the provider knows which plan it is asked for. */
  tag: string;
  gateway: number;
  caller: number;
  policy: Policy;
  path: '/v1/chat/completions' | '/v1/messages' | '/v1/images/generations';
  /** How many are asked for; none: it is a conversation. */
  images: number;
  stream: boolean;
  body: string;
  /** Output tokens that are held for. */
  ceiling: number;
  provider: ProviderWay;
  client: ClientWay;
  words: number;
  paceMs: number;
  /** Of the provider, before its answer begins. */
  silenceMs: number;
  /** When the client leaves before the first byte. */
  leaveMs: number;
  /** Our estimate of the input; even, and no two plans' are the same. */
  estimatedInput: number;
  /** What the provider says the input was; odd. */
  reportedInput: number;
}

export type Draw = ReturnType<typeof randomNumbers>;

/** Each word is a token, and of four characters: our tokenizer and our estimate by length count the same. */
export const WORD = ' the';

/** The larger of two spellings of one limit is dropped, and what is dropped is not counted. */
const LARGER_LIMIT = ',"max_tokens":9999';
/** Input is estimated at three bytes a token, and 80 for what stands around every conversation. */
const estimateOf = (body: string) => Math.ceil(body.replace(LARGER_LIMIT, '').length / 3 + 80);

/** Makes plans whose estimated inputs all differ: a bill names the plan it is of. */
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
    // Three bytes a token, and two tokens around a text.
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

  /** What all plans decide alike. */
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
    // The other spelling says more: the smaller one is held for, and sent.
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
/** Room for all that a body says beside its padding; two estimated tokens are six bytes. */
const LEAST_BYTES = 330;
/** Of such a body, at three bytes a token and 80 around it. */
const LEAST_ESTIMATE = LEAST_BYTES / 3 + 80;

function padded(request: object, tag: string, count: number): string {
  const write = (filling: string) =>
    JSON.stringify({ ...request, messages: [{ role: 'user', content: `${tag} ${filling}` }] });
  const missing = LEAST_BYTES + 6 * count - write('').replace(LARGER_LIMIT, '').length;
  return write('x'.repeat(missing));
}
