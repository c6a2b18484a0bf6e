/**
 * The stream of events: what happens to calls, and around them. Log, metrics, records and receipts are its sinks. An event is a call of a
 * function, not an object: what is known about a call is in its one `CallTrace`.
 */
import type { GatewayError } from '../canonical/errors.ts';
import type { Money } from '../canonical/money.ts';
import type { RateLimits } from '../canonical/rate-limits.ts';
import type { CooldownChange } from '../routing/cooldown-change.ts';
import type { AttemptListener, AttemptRecord } from '../routing/tracked-attempt.ts';
import type { CallRow } from '../store/rows.ts';
import type { CallSpan } from './traces/call-span.ts';

/** Something that an operator has changed. */
export interface ConfigChange {
  /** The id of the admin key, or `cli` or `start`. */
  readonly actor: string;
  /** As in the audit log: `model.changed`; for a change without audit row the method and route: `POST /admin/v1/health/targets/:id/reset`. */
  readonly action: string;
  readonly subject: string;
}

/** Takes the events it has functions for. Nothing that it throws reaches a call. */
export interface EventSink {
  /** The hold of the call is taken. */
  admitted?(call: CallTrace): void;
  /** The call has ended before it was admitted: `call.error` has the reason. It has no hold and no record. */
  refused?(call: CallTrace): void;
  attemptStarted?(call: CallTrace, attempt: AttemptRecord): void;
  /** The first token of a stream, or a whole response, has come. */
  attemptAnswered?(call: CallTrace, attempt: AttemptRecord): void;
  attemptEnded?(call: CallTrace, attempt: AttemptRecord): void;
  /** An admitted call has ended and its hold is settled. */
  ended?(call: CallTrace, record: CallRow): void;
  /** A task is about to be started at a provider: its trace gets the span that the provider continues. */
  taskAttempted?(task: CallTrace): void;
  /** A task, such as a video, has ended and its hold is settled. */
  taskEnded?(task: CallTrace, record: CallRow): void;
  /** The usage report of a call or task that has ended was not believed. */
  disputed?(record: CallRow): void;
  /** A target or a credential is not used for a while, or is used again. */
  cooldown?(change: CooldownChange): void;
  configChanged?(change: ConfigChange): void;
  /** A verification of the ledger found these faults. */
  ledgerFault?(faults: readonly string[]): void;
  /** Redis does not answer, or answers again. */
  redis?(isUp: boolean): void;
}

export type Events = Required<EventSink>;

const IGNORE = () => {};

/** `failed`: a sink has thrown. An event that no sink takes costs an empty call. */
export function createEvents(sinks: readonly EventSink[], failed: (thrown: unknown) => void): Events {
  function fan<A, B>(takers: readonly (((a: A, b: B) => void) | undefined)[]): (a: A, b: B) => void {
    const all = takers.filter((take) => take !== undefined);
    if (all.length === 0) return IGNORE;
    return (a, b) => {
      for (const take of all) {
        try {
          take(a, b);
        } catch (thrown) {
          failed(thrown);
        }
      }
    };
  }
  const one = <A>(takers: readonly (((a: A) => void) | undefined)[]) => fan<A, void>(takers) as (a: A) => void;
  return {
    admitted: one(sinks.map((sink) => sink.admitted?.bind(sink))),
    refused: one(sinks.map((sink) => sink.refused?.bind(sink))),
    attemptStarted: fan(sinks.map((sink) => sink.attemptStarted?.bind(sink))),
    attemptAnswered: fan(sinks.map((sink) => sink.attemptAnswered?.bind(sink))),
    attemptEnded: fan(sinks.map((sink) => sink.attemptEnded?.bind(sink))),
    ended: fan(sinks.map((sink) => sink.ended?.bind(sink))),
    taskAttempted: one(sinks.map((sink) => sink.taskAttempted?.bind(sink))),
    taskEnded: fan(sinks.map((sink) => sink.taskEnded?.bind(sink))),
    disputed: one(sinks.map((sink) => sink.disputed?.bind(sink))),
    cooldown: one(sinks.map((sink) => sink.cooldown?.bind(sink))),
    configChanged: one(sinks.map((sink) => sink.configChanged?.bind(sink))),
    ledgerFault: one(sinks.map((sink) => sink.ledgerFault?.bind(sink))),
    redis: one(sinks.map((sink) => sink.redis?.bind(sink))),
  };
}

const NONE: readonly never[] = [];

/** What is known about one call, filled in by its steps. The sinks get it with every event of the call. */
export class CallTrace implements AttemptListener {
  readonly id: string;
  /** Milliseconds since 1970, as all times here unless they say otherwise. */
  readonly at: number;
  /** On the clock of `performance.now()`. */
  readonly startedMs = performance.now();
  /** The client's format. */
  readonly dialect: string;
  /** The headers of the request, once it was read. */
  headers: RequestHeaders | undefined;
  /** Metadata of the request. */
  labels: CallLabels = NO_LABELS;
  /** Absent: the sender is unknown. */
  account: string | undefined;
  key: string | undefined;
  /** The model as the client names it; absent: the request was not read. */
  model: string | undefined;
  stream = false;
  /** Milliseconds from the start until its hold was taken; absent: it was not admitted. */
  admittedMs: number | undefined;
  /** The hold, with what was added to it. */
  hold: Money | undefined;
  /** All attempts, in order: also those beside others, and those that continue a reply. */
  attempts: readonly AttemptRecord[] = NONE;
  /** What the translation dropped or approximated. */
  warnings: readonly string[] = NONE;
  /** Of the trace that the call belongs to, while traces are exported. */
  span: CallSpan | undefined;
  /** The order of the targets, with the reason of each; absent: there was one. `main/gpt-4o affinity`. */
  route: (() => readonly string[]) | undefined;
  /** What was left of the caller's rate limits. */
  limits: RateLimits | undefined;
  /** Why it failed or was refused. Its message is for the client, its cause for the operator. */
  error: GatewayError | undefined;
  /** Of an admitted call, once it is known. */
  record: CallRow | undefined;
  private readonly events: Events;

  constructor(events: Events, id: string, at: number, dialect: string) {
    this.events = events;
    this.id = id;
    this.at = at;
    this.dialect = dialect;
  }

  /** Who sends it. */
  sentBy({ account, key }: { account: string; key: string }): void {
    this.account = account;
    this.key = key;
  }

  /** What it requests. `hasOwnHeaders`: there may be headers of the gateway's own. */
  asks(call: LabelledCall & { model: string; stream: boolean }, headers: RequestHeaders, hasOwnHeaders: boolean): void {
    this.headers = headers;
    this.model = call.model;
    this.stream = call.stream;
    this.labels = labelsOf(call, headers, hasOwnHeaders);
  }

  admitted(hold: Money): void {
    this.hold = hold;
    this.admittedMs = performance.now() - this.startedMs;
    this.events.admitted(this);
  }

  /** It has ended without a hold. */
  refused(error: GatewayError): void {
    this.error = error;
    this.events.refused(this);
  }

  attemptStarted(attempt: AttemptRecord): void {
    this.attempts = this.attempts.length === 0 ? [attempt] : [...this.attempts, attempt];
    this.events.attemptStarted(this, attempt);
  }

  attemptAnswered(attempt: AttemptRecord): void {
    this.events.attemptAnswered(this, attempt);
  }

  attemptEnded(attempt: AttemptRecord): void {
    this.events.attemptEnded(this, attempt);
  }

  /** Its hold is settled. */
  ended(record: CallRow): void {
    this.record = record;
    this.events.ended(this, record);
    if (record.outcome === 'disputed') this.events.disputed(record);
  }
}

export interface CallLabels {
  /** The `x-request-id` of the request. */
  readonly clientRequestId?: string | undefined;
  readonly user?: string | undefined;
  readonly metadata?: object | undefined;
  /** From `x-modelport-tags`, each once. */
  readonly tags?: readonly string[] | undefined;
}

export interface RequestHeaders {
  get(name: string): string | null | undefined;
}

/** What of a body is recorded. */
export interface LabelledCall {
  readonly user?: string;
  readonly metadata?: object;
}

export const NO_LABELS: CallLabels = {};

const LONGEST_ID = 128;
const MOST_TAGS = 16;
const LONGEST_TAG = 64;

/** `hasOwnHeaders`: there may be headers of the gateway's own. */
export function labelsOf(call: LabelledCall, headers: RequestHeaders, hasOwnHeaders: boolean): CallLabels {
  const clientRequestId = textIn(headers.get('x-request-id'))?.slice(0, LONGEST_ID) || undefined;
  const tags = hasOwnHeaders ? tagsIn(textIn(headers.get('x-modelport-tags'))) : undefined;
  const { user, metadata } = call;
  if (clientRequestId === undefined && tags === undefined && user === undefined && metadata === undefined)
    return NO_LABELS;
  return { clientRequestId, user, metadata, tags };
}

const BEYOND_ASCII = /[\u0080-\u00ff]/;

/** Headers are read byte by byte, and clients such as curl send UTF-8. What is not UTF-8 stays. */
function textIn(value: string | null | undefined): string | null | undefined {
  if (!value || !BEYOND_ASCII.test(value)) return value;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(value, 'latin1'));
  } catch {
    return value;
  }
}

/** `team-a, batch`: what is too long or too many is left out. */
function tagsIn(value: string | null | undefined): readonly string[] | undefined {
  if (!value) return undefined;
  const tags = new Set(value.split(',').map((tag) => tag.trim()));
  const kept = [...tags].filter((tag) => tag !== '' && tag.length <= LONGEST_TAG).slice(0, MOST_TAGS);
  return kept.length > 0 ? kept : undefined;
}
