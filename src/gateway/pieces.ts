/** A call that its target can only answer in pieces, by kind: choices of a conversation, batches of texts. */
import type { Call } from '../canonical/call.ts';
import type { Quirks, VendorDialect } from '../dialects/dialect.ts';
import type { Upstream } from './attempt.ts';
import { batches, joinVectors } from './batches.ts';
import { fanOut, merge } from './fan-out.ts';

/** The calls that together answer `call`, mostly the call itself. `own`: the target speaks the client's dialect. */
export function inPieces(call: Call, dialect: VendorDialect, quirks: Quirks, own: boolean): Call[] {
  switch (call.kind) {
    case 'chat':
      return own ? [call] : fanOut(call, dialect);
    case 'embed':
      return batches(call, quirks.mostInputs);
    case 'rerank':
      return [call];
    default:
      return call satisfies never;
  }
}

/** The answers to `calls`, in their order, as one. */
export function joinPieces(calls: readonly Call[], upstreams: readonly Upstream[]): Upstream {
  const [first] = calls;
  if (first?.kind === 'embed') return joinVectors(upstreams, first.inputs.length);
  return merge(upstreams, first?.kind === 'chat' ? (first.sampling.n ?? 1) : 1);
}
