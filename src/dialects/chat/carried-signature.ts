/**
 * Encodes a reasoning signature of one format as an opaque string for a client of another format. The client stores it
 * and sends it back.
 */
import type { ReasoningSignature } from '../../canonical/call.ts';

export interface CarriedSignature {
  signature: ReasoningSignature;
  /** The part that the signature belongs to, if it is not the part that carries it: a tool call's id, or `text`. */
  of?: string;
}

const MARK = 'gw1:';
// The first characters of every carried signature: the base64 of its prefix and the bracket after it.
const BEGINNING = 'Z3cxOl';

/** The whole string is valid base64, because some client libraries decode it. */
export function carrySignature({ dialect, value, id, owner }: ReasoningSignature, of?: string): string {
  const fields = [dialect, value, id ?? null, of ?? null, ...(owner === undefined ? [] : [owner])];
  return Buffer.from(MARK + JSON.stringify(fields)).toString('base64');
}

/** Decodes what `carrySignature` returned. Returns `undefined` for any other string. */
export function readCarriedSignature(text: string): CarriedSignature | undefined {
  if (!text.startsWith(BEGINNING)) return undefined;
  let fields: unknown;
  try {
    fields = JSON.parse(Buffer.from(text, 'base64').toString().slice(MARK.length));
  } catch {
    return undefined;
  }
  if (!Array.isArray(fields)) return undefined;
  const [dialect, value, id, of, owner] = fields;
  if (typeof dialect !== 'string' || typeof value !== 'string') return undefined;
  const signature: ReasoningSignature = {
    dialect,
    value,
    ...(typeof id === 'string' && { id }),
    ...(typeof owner === 'string' && { owner }),
  };
  return typeof of === 'string' ? { signature, of } : { signature };
}
