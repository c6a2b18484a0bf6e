/** The span of one call, and those of its attempts. It exists only while traces are exported. */
import type { AttemptRecord } from '../../routing/tracked-attempt.ts';
import type { RequestHeaders } from '../call-labels.ts';
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

  constructor(headers: RequestHeaders | undefined, sampler: Sampler) {
    const parent = headers && readParent(headers);
    this.traceId = parent?.traceId ?? newTraceId();
    this.parentSpanId = parent?.spanId;
    this.state = parent?.state ?? '';
    this.isSampled = sampler.samples(this.traceId, parent);
  }

  get spanId(): string {
    this.ownId ??= newSpanId();
    return this.ownId;
  }

  idOf(attempt: AttemptRecord): string {
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
