/** Converts the replies of a stream, or a single one, to canonical events. */
import type { ChatCall } from '../../../canonical/call.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import type { ReplyEvent } from '../../../canonical/reply.ts';
import type { UsageSource } from '../../../canonical/usage.ts';
import { GEMINI } from '../names.ts';
import { type ClientTool, clientTools } from '../request/legal-names.ts';
import { readStreamError } from './errors.ts';
import { blockedFinish, isFinish, readFinish, UNSAID } from './finish.ts';
import { readCitations } from './parts/grounding.ts';
import { readLogprobs } from './parts/logprobs.ts';
import { PartsDecoder } from './parts/read-parts.ts';
import { legalToolName } from './tool-names.ts';
import { readTier, readUsage } from './usage.ts';

interface ReadCandidate {
  parts: PartsDecoder;
  finish?: { raw: string; message: Json | undefined };
  grounding: JsonObject;
  recited: JsonObject;
  /** Members that no other format has. */
  asides: JsonObject;
}

/** Members of a candidate and of its grounding metadata that no other format has. */
const ASIDES = ['safetyRatings', 'urlContextMetadata', 'avgLogprobs', 'tokenCount', 'continuationToken'] as const;
const GROUNDING_ASIDES = [
  'webSearchQueries',
  'imageSearchQueries',
  'retrievalQueries',
  'searchEntryPoint',
  'retrievalMetadata',
  'googleMapsWidgetContextToken',
  'sourceFlaggingUris',
] as const;

const MAX_CANDIDATES = 128;

export class GeminiDecoder {
  readonly #turn: number;
  readonly #tools: ReadonlyMap<string, ClientTool>;
  readonly #candidates = new Map<number, ReadCandidate>();
  #usage: JsonObject | undefined;
  #block: JsonObject | undefined;
  readonly #asides: JsonObject = {};
  #started = false;

  constructor(call: ChatCall) {
    this.#turn = call.messages.length;
    this.#tools = clientTools(call.tools, legalToolName);
  }

  /** Whether all candidates have ended. */
  get isFinished(): boolean {
    if (this.#candidates.size === 0) return this.#block !== undefined;
    return [...this.#candidates.values()].every((candidate) => candidate.finish);
  }

  /** Ends the candidates of a reply that is known to be complete, even without a finish reason. */
  closeWhole(): void {
    for (const candidate of this.#candidates.values()) {
      if (candidate.parts.hasSpoken) candidate.finish ??= { raw: UNSAID, message: undefined };
    }
  }

  /** Converts one reply, or a chunk of a stream. */
  read(payload: JsonObject): ReplyEvent[] {
    const { error } = payload;
    if (isObject(error)) return [{ type: 'error', error: readStreamError(error) }];
    const events: ReplyEvent[] = [];
    if (!this.#started) this.#start(payload, events);
    const { candidates, usageMetadata, promptFeedback } = payload;
    for (const candidate of Array.isArray(candidates) ? candidates : []) {
      if (isObject(candidate)) this.#readCandidate(candidate, events);
    }
    keepPresent(payload, ['modelStatus'], this.#asides);
    if (isObject(promptFeedback)) keepPresent(promptFeedback, ['safetyRatings'], this.#asides);
    if (isObject(promptFeedback) && (isFinish(promptFeedback.blockReason) || promptFeedback.blockReasonMessage)) {
      this.#block = promptFeedback;
    }
    if (isObject(usageMetadata) && usageMetadata.promptTokenCount !== undefined) {
      // Every report covers the whole reply so far. Members of earlier reports are not kept.
      this.#usage = usageMetadata;
      if (!this.isFinished) this.#report('partial', events);
    }
    return events;
  }

  /** Emits what needs the complete reply: citations and usage. */
  finish(events: ReplyEvent[]): void {
    for (const [choice, candidate] of [...this.#candidates].sort(([a], [b]) => a - b)) {
      this.#endCandidate(choice, candidate, events);
    }
    if (Object.keys(this.#asides).length > 0) events.push({ type: 'aside', dialect: GEMINI, members: this.#asides });
    if (this.#candidates.size === 0 && this.#block) {
      const { blockReason, blockReasonMessage } = this.#block;
      events.push({ type: 'choice-end', choice: 0, finish: blockedFinish(blockReason, blockReasonMessage) });
    }
    this.#report('reported', events);
    events.push({ type: 'reply-end' });
  }

  #report(source: UsageSource, events: ReplyEvent[]): void {
    const usage = this.#usage && readUsage(this.#usage, this.#seen(), source);
    if (usage) events.push({ type: 'usage', usage });
  }

  #start({ responseId, modelVersion, createTime, usageMetadata }: JsonObject, events: ReplyEvent[]): void {
    this.#started = true;
    const created = typeof createTime === 'string' ? Date.parse(createTime) : Number.NaN;
    const extras = readTier(usageMetadata);
    events.push({
      type: 'reply-start',
      id: typeof responseId === 'string' ? responseId : '',
      model: typeof modelVersion === 'string' ? modelVersion : '',
      ...(!Number.isNaN(created) && { createdSeconds: Math.floor(created / 1000) }),
      ...(extras.service_tier !== undefined && { extras }),
    });
  }

  #readCandidate(raw: JsonObject, events: ReplyEvent[]): void {
    const choice = indexOf(raw.index);
    const candidate = this.#candidateAt(choice);
    const parts = isObject(raw.content) ? raw.content.parts : undefined;
    for (const part of Array.isArray(parts) ? parts : []) if (isObject(part)) candidate.parts.read(part, events);
    // Every report covers the whole reply so far. A later one may omit members of an earlier one.
    if (isObject(raw.groundingMetadata)) candidate.grounding = { ...candidate.grounding, ...raw.groundingMetadata };
    if (isObject(raw.citationMetadata)) candidate.recited = { ...candidate.recited, ...raw.citationMetadata };
    const logprobs = readLogprobs(raw.logprobsResult);
    const text = candidate.parts.lastText;
    if (logprobs.length > 0 && text) events.push({ type: 'part-logprobs', choice, part: text.part, logprobs });
    keepPresent(raw, ASIDES, candidate.asides);
    if (isFinish(raw.finishReason)) candidate.finish = { raw: raw.finishReason, message: raw.finishMessage };
  }

  #endCandidate(choice: number, candidate: ReadCandidate, events: ReplyEvent[]): void {
    const { parts, finish, grounding, recited, asides } = candidate;
    if (!parts.lastText && Array.isArray(grounding.groundingChunks)) parts.openText(events);
    for (const { part, citation } of readCitations(grounding, recited, parts.texts)) {
      events.push({ type: 'part-citation', choice, part, citation });
    }
    parts.close(events);
    keepPresent(grounding, GROUNDING_ASIDES, asides);
    if (Object.keys(asides).length > 0) events.push({ type: 'aside', dialect: GEMINI, members: asides });
    if (!finish) return;
    events.push({ type: 'choice-end', choice, finish: readFinish(finish.raw, finish.message, parts.sawCall) });
  }

  #candidateAt(choice: number): ReadCandidate {
    let candidate = this.#candidates.get(choice);
    if (!candidate) {
      const parts = new PartsDecoder({ turn: this.#turn, choice, tools: this.#tools });
      candidate = { parts, grounding: {}, recited: {}, asides: {} };
      this.#candidates.set(choice, candidate);
    }
    return candidate;
  }

  #seen() {
    let images = 0;
    let searches = 0;
    for (const { parts, grounding } of this.#candidates.values()) {
      images += parts.images;
      if (Array.isArray(grounding.webSearchQueries)) searches += grounding.webSearchQueries.length;
    }
    return { images, searches };
  }
}

/** Copies those of the named members that have a value. */
function keepPresent(raw: JsonObject, names: readonly string[], kept: JsonObject): void {
  for (const name of names) {
    const value = raw[name];
    if (value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0))
      continue;
    kept[name] = value;
  }
}

function indexOf(index: Json | undefined): number {
  return Number.isInteger(index) && Number(index) >= 0 && Number(index) < MAX_CANDIDATES ? Number(index) : 0;
}
