/** What the readers of SSE streams share: splitting into events, and errors of a reply that is not complete. */
import type { ChatCall } from '../../../canonical/call.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import type { ReplyEvent } from '../../../canonical/reply.ts';
import type { Frame, Reader } from '../../dialect.ts';
import { SseCutter, type SseEvent } from '../../wire/sse.ts';

/** Reads a stream event by event. An error of the splitting ends the reply. */
export abstract class SseReader implements Reader {
  protected readonly cutter = new SseCutter();

  read(chunk: Uint8Array): Frame[] {
    return this.frames(chunk);
  }

  /** The frames of the events that end in `chunk`; without one, of what is left at the end. */
  protected frames(chunk?: Uint8Array): Frame[] {
    try {
      const events = chunk ? this.cutter.read(chunk) : this.cutter.end();
      return events.map((event) => this.frame(event));
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown;
      return this.broken(thrown);
    }
  }

  abstract end(): Frame[];
  protected abstract frame(event: SseEvent): Frame;
  /** The frame that reports the error; none if the reply has already ended. */
  protected abstract broken(error: GatewayError): Frame[];
}

/** Whether the provider answers with a stream: some ignore `stream`, others stream unasked. */
export function isStreamed(call: ChatCall, contentType: string): boolean {
  return call.stream ? !contentType.includes('application/json') : contentType.includes('event-stream');
}

/** The error of a reply whose bytes end before it is complete. */
export function brokeOff(): GatewayError {
  return new GatewayError('upstream_failed', "The model's reply broke off before its end.");
}

/** The error of a reply that is not in its format. */
export function unreadable(): GatewayError {
  return new GatewayError('upstream_failed', "The model's reply could not be read.");
}

/** What an event of a stream means that is not in its format. Whether the reply can do without it is decided in `bounded-reader.ts`. */
export function unreadableEvent(): ReplyEvent {
  return { type: 'error', error: unreadable(), isLocal: true };
}
