/** The schema of entries in `modelport.yaml` and the admin API. Validation with error messages is done by their reader. */
import { Type } from 'typebox';
import type { Kind } from '../canonical/call.ts';
import { CAPTURE_MODES } from '../canonical/capture-mode.ts';
import { FALLBACK_REASONS } from '../canonical/errors.ts';
import { DATA_POLICIES, INPUTS } from '../routing/needs.ts';
import { STRATEGIES } from '../routing/order.ts';

const text = () => Type.Optional(Type.String());
const count = ($about?: string) => Type.Optional(Type.Integer({ minimum: 1, ...($about && { $about }) }));

const KINDS: Kind[] = ['chat', 'embed', 'rerank', 'image', 'speech', 'transcription', 'moderation', 'video'];

export const ProviderForm = Type.Object(
  {
    name: Type.String(),
    type: Type.String({ $about: 'Such as `openai`, `anthropic` or `openai-compatible`.' }),
    baseUrl: text(),
    credential: text(),
    credentials: Type.Optional(Type.Array(Type.String(), { $about: 'If absent, the provider keeps its credentials.' })),
    settings: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    concurrency: count('The maximum of concurrent calls with each credential.'),
    tokensPerMinute: count('The maximum of tokens per minute with each credential.'),
    queueMs: Type.Optional(
      Type.Integer({
        minimum: 0,
        default: 10_000,
        $about: 'The maximum time that a call waits for a place, in milliseconds.',
      }),
    ),
  },
  { $name: 'ProviderForm' },
);

export const TargetForm = Type.Object({
  provider: Type.String(),
  model: Type.String(),
  priority: Type.Optional(Type.Integer()),
  weight: Type.Optional(Type.Number()),
  cost: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      $about: 'Your cost of the target, in the form of `price`. The strategy `price` compares it.',
    }),
  ),
  inputs: Type.Optional(
    Type.Array(Type.Enum([...INPUTS]), { $about: 'The inputs that it accepts in addition to text.' }),
  ),
  tools: Type.Optional(Type.Boolean()),
  structuredOutput: Type.Optional(Type.Boolean()),
  contextTokens: count(),
  dataPolicy: Type.Optional(Type.Enum([...DATA_POLICIES], { $about: 'What the provider does with prompts.' })),
});

export const FallbackForm = Type.Object({
  model: Type.String({ $about: 'The name of another model.' }),
  on: Type.Optional(
    Type.Array(Type.Enum([...FALLBACK_REASONS]), { $about: 'Default: `context_length` and `unavailable`.' }),
  ),
});

export const ModelForm = Type.Object(
  {
    name: Type.String({
      $about: 'A name that ends in `*` matches all names that begin with it: `claude-*`, `openai/*`.',
    }),
    aliases: Type.Optional(Type.Array(Type.String(), { $about: 'Other names of the model.' })),
    fallbacks: Type.Optional(
      Type.Array(FallbackForm, {
        $about: 'Models to use if this one fails, in order, each at its own price.',
      }),
    ),
    kind: Type.Optional(Type.Enum(KINDS, { default: 'chat' })),
    price: Type.Record(Type.String(), Type.Unknown(), { $about: 'USD per million tokens, per image, per second …' }),
    maxOutputTokens: count(),
    contextTokens: count(),
    maxImages: count(),
    displayName: text(),
    ownedBy: text(),
    onDisconnect: Type.Optional(Type.Enum(['abort', 'drain'])),
    continuation: Type.Optional(
      Type.Enum(['off', 'prefill', 'buffer'], {
        default: 'off',
        $about:
          '`prefill`: if a stream breaks off, another target continues it. `buffer`: a stream is sent when it is complete, so another target may replace one that breaks off.',
      }),
    ),
    targets: Type.Array(TargetForm),
    strategy: Type.Optional(Type.Enum([...STRATEGIES], { default: 'weighted' })),
    retries: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 10, $about: 'The number of retries at the same target.' }),
    ),
    affinity: Type.Optional(Type.Enum(['on', 'off'], { default: 'on' })),
    hedge: Type.Optional(
      Type.Enum(['on', 'off'], {
        default: 'off',
        $about: '`on`: a second target is called if the first is slower than in 95 of 100 calls.',
      }),
    ),
    capture: Type.Optional(
      Type.Enum([...CAPTURE_MODES], {
        default: 'none',
        $about: 'What is stored of requests and replies, unless the key says otherwise.',
      }),
    ),
    firstTokenMs: count('The maximum time to the first token while another target is available, in milliseconds.'),
  },
  { $name: 'ModelForm' },
);
