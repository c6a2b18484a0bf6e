/** The span of one call, and those of its attempts. It exists only while traces are exported. */
import { hash } from 'node:crypto';
import type { AttemptRecord } from '../../routing/tracked-attempt.ts';
import type { Sampler } from './sampler.ts';
import { newSpanId, newTraceId, readParent, writeParent } from './trace-context.ts';

export class CallSpan {
  readonly traceId: string;
  readonly parentSpanId: string | undefined;
  readonly state: string;
  readonly isSampled: boolean;
  /** Drawn when it is needed: a call that is not exported needs none. */
  private ownId: string | undefined;
  /** The attempts whose spans have identifiers: nearly always one. */
  private first: AttemptRecord | undefined;
  private firstId = '';
  private others: Map<AttemptRecord, string> | undefined;

  /** Of a task, its id: any process may start and end it, so all of them must compute the same identifiers. */
  private readonly seed: string | undefined;

  constructor(headers: { get(name: string): string | null | undefined } | undefined, sampler: Sampler, seed?: string) {
    const parent = headers && readParent(headers);
    this.seed = seed;
    this.traceId = parent?.traceId ?? (seed === undefined ? newTraceId() : idFrom(seed, 32));
    this.parentSpanId = parent?.spanId;
    this.state = parent?.state ?? '';
    this.isSampled = sampler.samples(this.traceId, parent);
  }

  get spanId(): string {
    this.ownId ??= this.seed === undefined ? newSpanId() : idFrom(`${this.seed} span`, 16);
    return this.ownId;
  }

  idOf(attempt: AttemptRecord): string {
    if (this.seed !== undefined) {
      const { startedAt, target, credential } = attempt;
      return idFrom(`${this.seed} ${startedAt} ${target.id} ${credential}`, 16);
    }
    if (attempt === this.first) return this.firstId;
    if (!this.first) {
      this.first = attempt;
      this.firstId = newSpanId();
      return this.firstId;
    }
    this.others ??= new Map();
    const id = this.others.get(attempt) ?? newSpanId();
    this.others.set(attempt, id);
    return id;
  }

  /** The provider continues the trace: its spans are below that of the attempt. */
  propagate(attempt: AttemptRecord | undefined, headers: { [name: string]: string }): void {
    headers.traceparent = writeParent(this.traceId, attempt ? this.idOf(attempt) : this.spanId, this.isSampled);
    if (this.state !== '') headers.tracestate = this.state;
  }
}

/** So many hexadecimal digits. */
const idFrom = (text: string, digits: number): string => hash('sha256', text, 'hex').slice(0, digits);
