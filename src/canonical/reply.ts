/** A reply: a stream is these events over time, and a non-streaming response is their sum. */
import type { CacheMark, Citation, ReasoningSignature } from './call.ts';
import type { GatewayError } from './errors.ts';
import { grown } from './grown-text.ts';
import type { Json, JsonObject } from './json.ts';
import type { Usage } from './usage.ts';

export type ReplyEvent =
  | { type: 'reply-start'; id: string; model: string; createdSeconds?: number; extras?: JsonObject }
  | { type: 'part-start'; choice: number; part: number; opens: PartOpening }
  | { type: 'part-delta'; choice: number; part: number; delta: string }
  /** Speech also has a transcript. */
  | { type: 'part-transcript'; choice: number; part: number; delta: string }
  | { type: 'part-signature'; choice: number; part: number; signature: ReasoningSignature }
  | { type: 'part-citation'; choice: number; part: number; citation: Citation }
  | { type: 'part-logprobs'; choice: number; part: number; logprobs: Json[] }
  | { type: 'part-end'; choice: number; part: number }
  | { type: 'choice-end'; choice: number; finish: Finish }
  /** What only `dialect` has about the reply or its choices: ratings, searches that were run … */
  | { type: 'aside'; dialect: string; members: JsonObject; isPartialImage?: true }
  /** The result of calls other than chat. */
  | { type: 'result'; result: ReplyResult }
  /** If there are several, the last one counts. */
  | { type: 'usage'; usage: Usage }
  | { type: 'reply-end' }
  /** `isLocal`: one event of a stream could not be read; what follows it was read all the same. */
  | { type: 'error'; error: GatewayError; isLocal?: true };

/** An event of one choice: its parts, and its end. */
export type ChoiceEvent = Extract<ReplyEvent, { choice: number }>;

/** Results of calls other than chat. */
export type ReplyResult =
  | { type: 'vectors'; vectors: Vector[] }
  | { type: 'ranking'; ranking: RankedDocument[] }
  | { type: 'ratings'; ratings: JsonObject[] }
  /** The transcript, or its next piece. */
  | { type: 'transcript'; text: string; isWhole: boolean }
  /** Speech consists of any number of these. */
  | { type: 'audio'; bytes: Uint8Array };

/** `values`: numbers, or base64 of little-endian float32, as the provider sent them. */
export interface Vector {
  /** The index of its text among the inputs. */
  index: number;
  values: readonly number[] | string;
  /** The provider sent them in a third encoding, which no client reads. */
  converted?: true;
}

export interface RankedDocument {
  /** The index of the document in the request. */
  index: number;
  score: number;
}

/** Part numbers increase from 0 within a choice, in the order in which the parts open. */
/** The first event of a reply. */
export type ReplyStart = Extract<ReplyEvent, { type: 'reply-start' }>;
/** The opening of a part of this type. */
export type OpeningOf<Type> = Extract<PartOpening, { type: Type }>;

export type PartOpening =
  | { type: 'text' }
  | { type: 'refusal' }
  | { type: 'reasoning'; summary?: boolean }
  | { type: 'tool-call'; id: string; name: string; custom?: boolean; cache?: CacheMark }
  /** Deltas are base64 of the audio. */
  | { type: 'audio'; id: string; mimeType?: string; expiresAtSeconds?: number }
  /** Deltas are base64 of the image. An image given by URL has none. */
  | { type: 'image'; mimeType: string; url?: string; revisedPrompt?: string }
  /** A complete block that only `dialect` has. */
  | { type: 'native'; dialect: string; item: JsonObject };

export type FinishReason =
  | 'stop'
  | 'stop-sequence'
  | 'length'
  | 'tool-calls'
  | 'content-filter'
  | 'refusal'
  | 'pause'
  | 'broken-call'
  | 'other';

/** Why a choice ended: the common reason and the provider's own. */
export interface Finish {
  reason: FinishReason;
  raw?: string;
  stopSequence?: string;
  explanation?: string;
}

/** A complete reply: the sum of a stream's events. */
export interface Reply {
  id: string;
  model: string;
  createdSeconds?: number;
  extras?: JsonObject;
  choices: { parts: ReplyPart[]; finish?: Finish }[];
  result?: ReplyResult;
  usage?: Usage;
}

export interface ReplyPart {
  opens: PartOpening;
  content: string;
  transcript?: string;
  signature?: ReasoningSignature;
  citations?: Citation[];
  logprobs?: Json[];
}

/** Adds an event to a reply. Errors and ends do not change it. */
export function addEvent(reply: Reply, event: ReplyEvent): void {
  switch (event.type) {
    case 'reply-start':
      reply.id = event.id;
      reply.model = event.model;
      if (event.createdSeconds !== undefined) reply.createdSeconds = event.createdSeconds;
      if (event.extras) reply.extras = event.extras;
      return;
    case 'part-start':
      choiceAt(reply, event.choice).parts[event.part] = { opens: event.opens, content: '' };
      return;
    case 'choice-end':
      choiceAt(reply, event.choice).finish = event.finish;
      return;
    case 'result':
      reply.result = event.result;
      return;
    case 'usage':
      reply.usage = event.usage;
      return;
    case 'reply-end':
    case 'error':
    case 'part-end':
    case 'aside':
      return;
    default:
      addToPart(partAt(reply, event.choice, event.part), event);
  }
}

/** What is added to a part that was started. */
export type PartEvent = Extract<
  ReplyEvent,
  { type: 'part-delta' | 'part-transcript' | 'part-signature' | 'part-citation' | 'part-logprobs' }
>;

function addToPart(part: ReplyPart, event: PartEvent): void {
  switch (event.type) {
    case 'part-delta':
      part.content = grown(part.content, event.delta);
      return;
    case 'part-transcript':
      part.transcript = (part.transcript ?? '') + event.delta;
      return;
    case 'part-signature':
      part.signature = event.signature;
      return;
    case 'part-citation':
      part.citations = [...(part.citations ?? []), event.citation];
      return;
    case 'part-logprobs':
      part.logprobs = [...(part.logprobs ?? []), ...event.logprobs];
      return;
    default:
      event satisfies never;
  }
}

/** An empty reply to which events can be added. */
export function emptyReply(): Reply {
  return { id: '', model: '', choices: [] };
}

function choiceAt(reply: Reply, index: number): Reply['choices'][number] {
  while (reply.choices.length <= index) reply.choices.push({ parts: [] });
  return reply.choices[index]!;
}

function partAt(reply: Reply, choice: number, part: number): ReplyPart {
  const parts = choiceAt(reply, choice).parts;
  parts[part] ??= { opens: { type: 'text' }, content: '' };
  return parts[part];
}
