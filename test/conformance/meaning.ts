/** The content of a reply for a reader of one format, independent of its splitting into parts and events. */
import type { Citation, ReasoningSignature } from '../../src/canonical/call.ts';
import type { FinishReason, Reply, ReplyPart } from '../../src/canonical/reply.ts';
import { legalToolId } from '../../src/dialects/chat/anthropic-messages/tool-names.ts';
import { readCarriedSignature } from '../../src/dialects/chat/carried-signature.ts';

type PartType = ReplyPart['opens']['type'];

/** How a format expresses what it has no member for. What it omits must be reported. */
export interface FormatTraits {
  /** Kinds of parts that become text; images become Markdown. */
  readonly asText: readonly PartType[];
  readonly omits: readonly PartType[];
  /** Input of custom tools becomes an object with one member. */
  readonly wrapsFreeText: boolean;
  readonly logprobs: readonly PartType[];
  readonly finish: { readonly [reason in FinishReason]?: FinishReason };
  readonly severalChoices: boolean;
  /** Of several texts' signatures it keeps the last one if complete. */
  readonly signatures: 'all' | 'last-text' | 'none';
  readonly stopSequence: boolean;
  /** It contains the reason of a refusal. */
  readonly why: boolean;
  shows(citation: Citation): boolean;
  callId(id: string): string;
}

const EVERYTHING: readonly PartType[] = ['text', 'refusal', 'reasoning', 'tool-call', 'audio', 'image', 'native'];
const hasUrl = ({ url }: Citation) => url !== undefined;
const unchanged = (id: string) => id;

export const FORMAT_TRAITS: { readonly [dialect: string]: FormatTraits } = {
  'openai-chat': {
    asText: ['image'],
    omits: [],
    wrapsFreeText: false,
    logprobs: EVERYTHING,
    finish: { refusal: 'content-filter', pause: 'stop', other: 'stop', 'broken-call': 'stop' },
    severalChoices: true,
    signatures: 'last-text',
    stopSequence: true,
    why: true,
    shows: hasUrl,
    callId: unchanged,
  },
  'openai-completions': {
    asText: ['refusal'],
    omits: ['reasoning', 'tool-call', 'audio', 'image'],
    wrapsFreeText: false,
    logprobs: ['text', 'refusal'],
    finish: { refusal: 'content-filter', pause: 'stop', other: 'stop', 'broken-call': 'stop', 'tool-calls': 'stop' },
    severalChoices: true,
    signatures: 'none',
    stopSequence: true,
    why: false,
    shows: () => false,
    callId: unchanged,
  },
  'openai-responses': {
    asText: ['audio'],
    omits: [],
    wrapsFreeText: false,
    logprobs: ['text'],
    finish: { refusal: 'content-filter', 'stop-sequence': 'stop', other: 'stop', pause: 'other' },
    severalChoices: false,
    signatures: 'all',
    stopSequence: false,
    why: true,
    shows: ({ url, native }) => url !== undefined || native?.dialect === 'openai-responses',
    callId: unchanged,
  },
  'anthropic-messages': {
    asText: ['image', 'audio', 'refusal'],
    omits: [],
    wrapsFreeText: true,
    logprobs: [],
    finish: { 'content-filter': 'refusal', other: 'stop', 'broken-call': 'stop' },
    severalChoices: false,
    signatures: 'all',
    stopSequence: true,
    why: true,
    shows: ({ url, native }) => url !== undefined || native?.dialect === 'anthropic-messages',
    callId: legalToolId,
  },
  gemini: {
    asText: ['refusal'],
    omits: [],
    wrapsFreeText: true,
    logprobs: EVERYTHING,
    finish: { refusal: 'content-filter', 'stop-sequence': 'stop', pause: 'stop', 'tool-calls': 'stop' },
    severalChoices: true,
    signatures: 'all',
    stopSequence: false,
    why: true,
    shows: ({ url, citedText, native }) => url !== undefined || citedText !== undefined || native?.dialect === 'gemini',
    callId: unchanged,
  },
};

export interface Call {
  id: string;
  name: string;
  input: unknown;
}

export interface ChoiceContent {
  text: string;
  reasoning: string;
  refusal: string;
  audio: string;
  images: string;
  calls: Call[];
  signatures: string[];
  sources: string[];
  logprobs: number;
  finish: FinishReason;
  stopSequence: string;
}

export interface ReplyContent {
  choices: ChoiceContent[];
  usage: { input: number; output: number; cached: number; reasoning: number } | undefined;
}

/** The reply as a reader of that format understands it; equal for the original and a correct translation. */
export function contentIn(reply: Reply, traits: FormatTraits): ReplyContent {
  const choices = traits.severalChoices ? reply.choices : reply.choices.slice(0, 1);
  const { usage } = reply;
  return {
    choices: choices.map((choice) => choiceContent(choice, traits)),
    usage: usage && {
      input: usage.input,
      output: usage.output,
      cached: usage.cachedInput ?? 0,
      reasoning: usage.reasoning ?? 0,
    },
  };
}

function choiceContent({ parts, finish }: Reply['choices'][number], traits: FormatTraits): ChoiceContent {
  const kept = parts.filter(({ opens }) => !traits.omits.includes(opens.type));
  const isTruncated = finish?.reason === 'length';
  const calls = kept.flatMap((part) => callIn(part, isTruncated, traits));
  const refusals = kept.filter(({ opens }) => opens.type === 'refusal').map(({ content }) => content);
  const isRefusal = finish?.reason === 'refusal' || finish?.reason === 'content-filter';
  const why = isRefusal && refusals.length === 0 && traits.why ? (finish.explanation ?? '') : '';
  return {
    text: textOf(kept, traits),
    reasoning: joined(kept, 'reasoning'),
    refusal: traits.asText.includes('refusal') ? why : refusals.join('') + why,
    audio: traits.asText.includes('audio') ? '' : joined(kept, 'audio'),
    images: traits.asText.includes('image') ? '' : joined(kept, 'image'),
    calls,
    signatures: signaturesOf(kept, traits),
    sources: kept.flatMap(({ citations = [] }) => citations.filter(traits.shows).map(({ url = '' }) => url)),
    logprobs: kept.flatMap(({ opens, logprobs = [] }) => (traits.logprobs.includes(opens.type) ? logprobs : [])).length,
    finish: finishIn(finish?.reason ?? 'stop', calls.length > 0, refusals.length > 0, traits),
    stopSequence: traits.stopSequence ? (finish?.stopSequence ?? '') : '',
  };
}

/** Text, and what becomes text in that format, such as refusals. */
function textOf(parts: readonly ReplyPart[], { asText }: FormatTraits): string {
  return parts
    .map(({ opens, content, transcript = '' }) => {
      if (opens.type === 'text') return content;
      if (opens.type === 'audio') return asText.includes('audio') ? transcript : '';
      if (!asText.includes(opens.type)) return '';
      return opens.type === 'image' ? `![image](data:${opens.mimeType};base64,${content})` : content;
    })
    .join('');
}

function joined(parts: readonly ReplyPart[], type: PartType): string {
  return parts.map(({ opens, content }) => (opens.type === type ? content : '')).join('');
}

/** Truncated arguments are not a call; other invalid JSON is one member of an object. */
function callIn({ opens, content }: ReplyPart, isTruncated: boolean, { wrapsFreeText, callId }: FormatTraits): Call[] {
  if (opens.type !== 'tool-call') return [];
  const { name } = opens;
  const id = callId(opens.id);
  if (opens.custom) return [{ id, name, input: wrapsFreeText ? { input: content } : content }];
  const input = jsonOf(content);
  if (input === undefined && isTruncated) return [];
  return [{ id, name, input: input ?? { input: content } }];
}

function finishIn(
  reason: FinishReason,
  calls: boolean,
  refused: boolean,
  { finish, asText }: FormatTraits,
): FinishReason {
  const mapped = refused && reason === 'stop' && asText.includes('refusal') ? 'refusal' : reason;
  const word = finish[mapped] ?? mapped;
  return calls && (word === 'stop' || word === 'other') ? 'tool-calls' : word;
}

function signaturesOf(parts: readonly ReplyPart[], { signatures }: FormatTraits): string[] {
  if (signatures === 'none') return [];
  const lastText = parts.findLastIndex(({ opens, signature }) => opens.type === 'text' && signature);
  const kept = parts.filter(({ opens }, index) => signatures === 'all' || opens.type !== 'text' || index === lastText);
  return kept.flatMap(({ signature }) => (signature ? signaturesIn(signature) : []));
}

/** A chat's signatures of other formats are separate members. */
function signaturesIn({ dialect, value }: ReasoningSignature): string[] {
  const carried = [...value.matchAll(/"(Z3cxOl[A-Za-z0-9+/=]+)"/g)].flatMap(
    ([, text = '']) => readCarriedSignature(text) ?? [],
  );
  if (carried.length === 0) return [`${dialect} ${value}`];
  return carried.map(({ signature }) => `${signature.dialect} ${signature.value}`);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text === '' ? '{}' : text);
  } catch {
    return undefined;
  }
}

/** What that format omits of the reply, in the words that the warning must contain. */
export function omittedFrom(reply: Reply, traits: FormatTraits, dialect: string): string[] {
  const omitted = new Set<string>();
  for (const [index, { parts, finish }] of reply.choices.entries()) {
    if (index > 0 && !traits.severalChoices) {
      omitted.add('choice');
      continue;
    }
    const textSignatures = parts.filter(({ opens, signature }) => opens.type === 'text' && signature).length;
    if (textSignatures > 1 && traits.signatures === 'last-text') omitted.add('reasoning signature of a text');
    for (const { opens, citations = [], logprobs = [] } of parts) {
      if (traits.omits.includes(opens.type)) omitted.add(opens.type);
      if (opens.type === 'native' && opens.dialect !== dialect) omitted.add(`of ${opens.dialect}`);
      if (opens.type === 'audio' && traits.asText.includes('audio')) omitted.add('audio');
      if (!citations.every(traits.shows)) omitted.add('citation');
      if (logprobs.length > 0 && !traits.logprobs.includes(opens.type)) omitted.add('logprobs');
    }
    if (finish?.stopSequence !== undefined && !traits.stopSequence) omitted.add('stop sequence');
    const isRefusal = finish?.reason === 'refusal' || finish?.reason === 'content-filter';
    if (
      finish?.explanation !== undefined &&
      !(traits.why && isRefusal) &&
      dialect !== 'gemini' &&
      finish.reason !== 'broken-call'
    )
      omitted.add('why');
  }
  return [...omitted];
}

/** The features of a reply for the matrix. */
export function featuresOf({ choices, usage }: Reply): string[] {
  const parts = choices.flatMap((choice) => choice.parts);
  const calls = parts.filter(({ opens }) => opens.type === 'tool-call');
  const reasons = choices.map(({ finish }) => finish?.reason);
  const has: { [feature: string]: boolean } = {
    text: parts.some(({ opens, content }) => opens.type === 'text' && content !== ''),
    'tool calls': calls.length > 0,
    'parallel calls': calls.length > 1,
    'free-text calls': calls.some(({ opens }) => opens.type === 'tool-call' && opens.custom),
    reasoning: parts.some(({ opens, content }) => opens.type === 'reasoning' && content !== ''),
    'reasoning signatures': parts.some(({ signature }) => signature),
    images: parts.some(({ opens }) => opens.type === 'image'),
    audio: parts.some(({ opens }) => opens.type === 'audio'),
    citations: parts.some(({ citations }) => citations && citations.length > 0),
    'log probabilities': parts.some(({ logprobs }) => logprobs && logprobs.length > 0),
    'server tools': parts.some(({ opens }) => opens.type === 'native'),
    'several choices': choices.length > 1,
    'refusals and filters': reasons.some((reason) => reason === 'refusal' || reason === 'content-filter'),
    'cut at the ceiling': reasons.includes('length'),
    'stop sequences met': reasons.includes('stop-sequence'),
    'other ends': reasons.some((reason) => reason === 'pause' || reason === 'other' || reason === 'broken-call'),
    usage: usage !== undefined,
    'cache usage': (usage?.cachedInput ?? 0) + (usage?.cacheWrite ?? 0) + (usage?.cacheWriteHour ?? 0) > 0,
    'reasoning usage': (usage?.reasoning ?? 0) > 0,
  };
  return Object.keys(has).filter((feature) => has[feature]);
}
