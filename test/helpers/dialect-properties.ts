/** Properties that every format of a conversation has, of any request and any bytes. */
import { expect } from 'bun:test';
import type { ChatCall } from '../../src/canonical/call.ts';
import { GatewayError } from '../../src/canonical/errors.ts';
import type { Dialect } from '../../src/dialects/dialect.ts';
import { boundedReader } from '../../src/dialects/shared/bounded-reader.ts';
import { chatCall } from './chat-call.ts';
import { fc } from './property.ts';

const encoder = new TextEncoder();

/** The body can be read and written again, or the error explains what is wrong with it. */
export function expectCallOrError(dialect: Dialect<ChatCall>, members: object): void {
  const body = encoder.encode(JSON.stringify(members));
  try {
    const call = dialect.readCall({ body, headers: new Headers(), path: {}, query: new URLSearchParams() });
    expect(dialect.writeCall(call, 'm', {}).body.length).toBeGreaterThan(0);
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(GatewayError);
    expect((thrown as GatewayError).code).not.toBe('internal_error');
  }
}

/** Whatever a provider sends, the reader does not throw and the reply ends once. */
export function expectOneEnd(dialect: Dialect<ChatCall>): void {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.boolean(), (bytes, stream) => {
      const contentType = stream ? 'text/event-stream' : 'application/json';
      const call = chatCall({ stream });
      const reader = boundedReader(dialect.reader(call, contentType, {}), call, { skippedEvents: 0 });
      const events = [...reader.read(bytes), ...reader.end()].flatMap((frame) => frame.events);
      expect(events.filter(({ type }) => type === 'reply-end' || type === 'error').length).toBe(1);
    }),
  );
}
