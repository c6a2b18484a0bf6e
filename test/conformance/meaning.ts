/** The meaning of a reply to a reader of one format, independent of its splitting into parts and events. */
import type { Citation, ReasoningSignature } from '../../src/canonical/call.ts';
import type { FinishReason, Reply, ReplyPart } from '../../src/canonical/reply.ts';
import { legalToolId } from '../../src/dialects/chat/anthropic-messages/tool-names.ts';
import { readCarriedSignature } from '../../src/dialects/chat/carried-signature.ts';

type PartType = ReplyPart['opens']['type'];

/** How a format expresses what it has no member for. What it omits must be reported. */
export interface Manner {
  /** Kinds of parts that become text; images become Markdown. */
  readonly asText: readonly PartType[];
  readonly leavesOut: readonly PartType[];
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
const byAddress = ({ url }: Citation) => url !== undefined;
const asItIs = (id: string) => id;

export const MANNERS: { readonly [dialect: string]: Manner } = {
  'openai-chat': {
    asText: ['image'],
    leavesOut: [],
    wrapsFreeText: false,
    logprobs: EVERYTHING,
    finish: { refusal: 'content-filter', pause: 'stop', other: 'stop', 'broken-call': 'stop' },
    severalChoices: true,
    signatures: 'last-text',
    stopSequence: true,
    why: true,
    shows: byAddress,
    callId: asItIs,
  },
  'openai-completions': {
    asText: ['refusal'],
    leavesOut: ['reasoning', 'tool-call', 'audio', 'image'],
    wrapsFreeText: false,
    logprobs: ['text', 'refusal'],
    finish: { refusal: 'content-filter', pause: 'stop', other: 'stop', 'broken-call': 'stop', 'tool-calls': 'stop' },
    severalChoices: true,
    signatures: 'none',
    stopSequence: true,
    why: false,
    shows: () => false,
    callId: asItIs,
  },
  'openai-responses': {
    asText: ['audio'],
    leavesOut: [],
    wrapsFreeText: false,
    logprobs: ['text'],
    finish: { refusal: 'content-filter', 'stop-sequence': 'stop', other: 'stop', pause: 'other' },
    severalChoices: false,
    signatures: 'all',
    stopSequence: false,
    why: true,
    shows: ({ url, native }) => url !== undefined || native?.dialect === 'openai-responses',
    callId: asItIs,
  },
  'anthropic-messages': {
    asText: ['image', 'audio', 'refusal'],
    leavesOut: [],
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
    leavesOut: [],
    wrapsFreeText: true,
    logprobs: EVERYTHING,
    finish: { refusal: 'content-filter', 'stop-sequence': 'stop', pause: 'stop', 'tool-calls': 'stop' },
    severalChoices: true,
    signatures: 'all',
    stopSequence: false,
    why: true,
    shows: ({ url, citedText, native }) => url !== undefined || citedText !== undefined || native?.dialect === 'gemini',
    callId: asItIs,
  },
};

export interface Call {
  id: string;
  name: string;
  input: unknown;
}

export interface ChoiceMeaning {
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

export interface Meaning {
  choices: ChoiceMeaning[];
  usage: { input: number; output: number; cached: number; reasoning: number } | undefined;
}

/** The reply as a reader of that format understands it; equal for the original and a correct translation. */
export function meaningOf(reply: Reply, manner: Manner): Meaning {
  const choices = manner.severalChoices ? reply.choices : reply.choices.slice(0, 1);
  const { usage } = reply;
  return {
    choices: choices.map((choice) => choiceMeaning(choice, manner)),
    usage: usage && {
      input: usage.input,
      output: usage.output,
      cached: usage.cachedInput ?? 0,
      reasoning: usage.reasoning ?? 0,
    },
  };
}

function choiceMeaning({ parts, finish }: Reply['choices'][number], manner: Manner): ChoiceMeaning {
  const kept = parts.filter(({ opens }) => !manner.leavesOut.includes(opens.type));
  const brokeOff = finish?.reason === 'length';
  const calls = kept.flatMap((part) => callIn(part, brokeOff, manner));
  const refusals = kept.filter(({ opens }) => opens.type === 'refusal').map(({ content }) => content);
  const isRefusal = finish?.reason === 'refusal' || finish?.reason === 'content-filter';
  const why = isRefusal && refusals.length === 0 && manner.why ? (finish.explanation ?? '') : '';
  return {
    text: textOf(kept, manner),
    reasoning: joined(kept, 'reasoning'),
    refusal: manner.asText.includes('refusal') ? why : refusals.join('') + why,
    audio: manner.asText.includes('audio') ? '' : joined(kept, 'audio'),
    images: manner.asText.includes('image') ? '' : joined(kept, 'image'),
    calls,
    signatures: signaturesOf(kept, manner),
    sources: kept.flatMap(({ citations = [] }) => citations.filter(manner.shows).map(({ url = '' }) => url)),
    logprobs: kept.flatMap(({ opens, logprobs = [] }) => (manner.logprobs.includes(opens.type) ? logprobs : [])).length,
    finish: finishIn(finish?.reason ?? 'stop', calls.length > 0, refusals.length > 0, manner),
    stopSequence: manner.stopSequence ? (finish?.stopSequence ?? '') : '',
  };
}

/** Text, and what becomes text in that format, such as refusals. */
function textOf(parts: readonly ReplyPart[], { asText }: Manner): string {
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
function callIn({ opens, content }: ReplyPart, brokeOff: boolean, { wrapsFreeText, callId }: Manner): Call[] {
  if (opens.type !== 'tool-call') return [];
  const { name } = opens;
  const id = callId(opens.id);
  if (opens.custom) return [{ id, name, input: wrapsFreeText ? { input: content } : content }];
  const input = jsonOf(content);
  if (input === undefined && brokeOff) return [];
  return [{ id, name, input: input ?? { input: content } }];
}

function finishIn(reason: FinishReason, calls: boolean, refused: boolean, { finish, asText }: Manner): FinishReason {
  const said = refused && reason === 'stop' && asText.includes('refusal') ? 'refusal' : reason;
  const word = finish[said] ?? said;
  return calls && (word === 'stop' || word === 'other') ? 'tool-calls' : word;
}

function signaturesOf(parts: readonly ReplyPart[], { signatures }: Manner): string[] {
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

/** What that format omits of the reply, in the words that a warning must contain. */
export function unsaidOf(reply: Reply, manner: Manner, dialect: string): string[] {
  const unsaid = new Set<string>();
  for (const [index, { parts, finish }] of reply.choices.entries()) {
    if (index > 0 && !manner.severalChoices) {
      unsaid.add('choice');
      continue;
    }
    const textSignatures = parts.filter(({ opens, signature }) => opens.type === 'text' && signature).length;
    if (textSignatures > 1 && manner.signatures === 'last-text') unsaid.add('reasoning signature of a text');
    for (const { opens, citations = [], logprobs = [] } of parts) {
      if (manner.leavesOut.includes(opens.type)) unsaid.add(opens.type);
      if (opens.type === 'native' && opens.dialect !== dialect) unsaid.add(`of ${opens.dialect}`);
      if (opens.type === 'audio' && manner.asText.includes('audio')) unsaid.add('audio');
      if (!citations.every(manner.shows)) unsaid.add('citation');
      if (logprobs.length > 0 && !manner.logprobs.includes(opens.type)) unsaid.add('logprobs');
    }
    if (finish?.stopSequence !== undefined && !manner.stopSequence) unsaid.add('stop sequence');
    const isRefusal = finish?.reason === 'refusal' || finish?.reason === 'content-filter';
    if (
      finish?.explanation !== undefined &&
      !(manner.why && isRefusal) &&
      dialect !== 'gemini' &&
      finish.reason !== 'broken-call'
    )
      unsaid.add('why');
  }
  return [...unsaid];
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
