/** A call that a route of the edge starts, such as a video: recorded as refused if it ends before it is held. */
import type { Caller } from '../access/access.ts';
import { asGatewayError } from '../canonical/errors.ts';
import { newTimedId } from '../canonical/id.ts';
import { CallTrace } from '../telemetry/events.ts';
import type { HttpDeps } from './http-deps.ts';

export class BegunCall {
  readonly trace: CallTrace;
  private heldAs: string | undefined;

  constructor({ events, now }: Pick<HttpDeps, 'events' | 'now'>, format: string) {
    const at = now();
    this.trace = new CallTrace(events, newTimedId('req_', at), at, format);
  }

  sentBy({ account, key }: Caller): void {
    this.trace.sentBy({ account, key });
  }

  /** Its hold is taken: from then on it has a record of its own, with this id. */
  held(id: string): void {
    this.heldAs = id;
  }

  /** Returns the id by which its record is found. */
  failed(thrown: unknown): string {
    if (this.heldAs !== undefined) return this.heldAs;
    this.trace.refused(asGatewayError(thrown));
    return this.trace.id;
  }
}
