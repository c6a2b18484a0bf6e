/** What comes back: a stream is these events over time, a whole reply is what they add up to. */
import type { CacheMark, Citation, Seal } from './call.ts';
import type { GatewayError } from './errors.ts';
import type { Json, JsonObject } from './json.ts';
import type { Usage } from './usage.ts';

export type ReplyEvent =
  | { type: 'reply-start'; id: string; model: string; createdSeconds?: number; extras?: JsonObject }
  | { type: 'part-start'; choice: number; part: number; opens: PartOpening }
  | { type: 'part-delta'; choice: number; part: number; delta: string }
  /** Speech also has its words. */
  | { type: 'part-transcript'; choice: number; part: number; delta: string }
  | { type: 'part-seal'; choice: number; part: number; seal: Seal }
  | { type: 'part-citation'; choice: number; part: number; citation: Citation }
  | { type: 'part-logprobs'; choice: number; part: number; logprobs: Json[] }
  | { type: 'part-end'; choice: number; part: number }
  | { type: 'choice-end'; choice: number; finish: Finish }
  /** What only `dialect` can say about the reply or its choices: ratings, searches that were run … */
  | { type: 'aside'; dialect: string; members: JsonObject }
  /** What is no conversation. */
  | { type: 'result'; result: Result }
  /** The last one counts. */
  | { type: 'usage'; usage: Usage }
  | { type: 'reply-end' }
  | { type: 'error'; error: GatewayError };

/** What other calls than conversations bring back. */
export type Result =
  | { type: 'vectors'; vectors: Vector[] }
  | { type: 'ranking'; ranking: Ranked[] }
  | { type: 'ratings'; ratings: JsonObject[] }
  /** What was heard, or the next of it. */
  | { type: 'transcript'; text: string; isWhole: boolean }
  /** Speech comes in as many of these as there are pieces of it. */
  | { type: 'audio'; bytes: Uint8Array };

/** `values` are numbers, or base64 of little-endian float32, as the provider gave them. */
export interface Vector {
  /** Place of its text among the inputs. */
  index: number;
  values: readonly number[] | string;
  /** The provider wrote them in a third way, which no client reads. */
  converted?: true;
}

export interface Ranked {
  /** Place of the document among those asked about. */
  index: number;
  score: number;
}

/** Part numbers rise from 0 within a choice in the order in which the parts open. */
export type PartOpening =
  | { type: 'text' }
  | { type: 'refusal' }
  | { type: 'reasoning'; summary?: boolean }
  | { type: 'tool-call'; id: string; name: string; custom?: boolean; cache?: CacheMark }
  /** Deltas are base64 of the audio. */
  | { type: 'audio'; id: string; mimeType?: string; expiresAtSeconds?: number }
  /** Deltas are base64 of the image; where it stands at an address there are none. */
  | { type: 'image'; mimeType: string; url?: string; revisedPrompt?: string }
  /** A block that only `dialect` can say, whole at once. */
  | { type: 'vendor'; dialect: string; item: JsonObject };

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

/** Why a choice ended: the unified word and the provider's own. */
export interface Finish {
  reason: FinishReason;
  raw?: string;
  stopSequence?: string;
  explanation?: string;
}

/** A whole reply: what the events of a stream add up to. */
export interface Reply {
  id: string;
  model: string;
  createdSeconds?: number;
  extras?: JsonObject;
  choices: { parts: ReplyPart[]; finish?: Finish }[];
  result?: Result;
  usage?: Usage;
}

export interface ReplyPart {
  opens: PartOpening;
  content: string;
  transcript?: string;
  seal?: Seal;
  citations?: Citation[];
  logprobs?: Json[];
}

/** Adds one event to a reply in the making; errors and ends leave it as it is. */
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

type PartEvent = Extract<
  ReplyEvent,
  { type: 'part-delta' | 'part-transcript' | 'part-seal' | 'part-citation' | 'part-logprobs' }
>;

function addToPart(part: ReplyPart, event: PartEvent): void {
  switch (event.type) {
    case 'part-delta':
      part.content += event.delta;
      return;
    case 'part-transcript':
      part.transcript = (part.transcript ?? '') + event.delta;
      return;
    case 'part-seal':
      part.seal = event.seal;
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

/** An empty reply to add events to. */
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
