/** The span of one call, and those of its attempts. It exists only while traces are exported. */
import type { AttemptRecord } from '../../routing/tracked-attempt.ts';
import type { Sampler } from './sampler.ts';
import { newSpanId, newTraceId, readParent, writeParent } from './trace-context.ts';

interface RequestHeaders {
  get(name: string): string | null | undefined;
}

export class CallSpan {
  readonly traceId: string;
  readonly spanId = newSpanId();
  readonly parentSpanId: string | undefined;
  readonly state: string;
  readonly isSampled: boolean;
  /** Identifiers of the spans of attempts, in the order in which they were asked for. */
  private attempts: AttemptRecord[] = [];
  private ids: string[] = [];

  constructor(headers: RequestHeaders | undefined, sampler: Sampler) {
    const parent = headers && readParent(headers);
    this.traceId = parent?.traceId ?? newTraceId();
    this.parentSpanId = parent?.spanId;
    this.state = parent?.state ?? '';
    this.isSampled = sampler.samples(this.traceId, parent);
  }

  idOf(attempt: AttemptRecord): string {
    const at = this.attempts.indexOf(attempt);
    if (at >= 0) return this.ids[at]!;
    const id = newSpanId();
    this.attempts.push(attempt);
    this.ids.push(id);
    return id;
  }

  /** The provider continues the trace: its spans are below that of the attempt. */
  propagate(attempt: AttemptRecord | undefined, headers: { [name: string]: string }): void {
    headers.traceparent = writeParent(this.traceId, attempt ? this.idOf(attempt) : this.spanId, this.isSampled);
    if (this.state !== '') headers.tracestate = this.state;
  }
}
