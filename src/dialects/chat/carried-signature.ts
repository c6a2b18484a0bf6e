/** A seal of one format as an opaque string in another's: a client carries it through a conversation and hands it back. */
import type { Seal } from '../../canonical/call.ts';

export interface CarriedSeal {
  seal: Seal;
  /** The part that the seal belongs to, where it does not stand in that part itself: a tool call's id, or `text`. */
  of?: string;
}

const MARK = 'gw1:';
// What every carried seal begins with: the base64 of the mark and of the bracket behind it.
const BEGINNING = 'Z3cxOl';

/** Base64 as a whole: some libraries decode what they carry. */
export function carrySeal({ dialect, value, id, maker }: Seal, of?: string): string {
  const fields = [dialect, value, id ?? null, of ?? null, ...(maker === undefined ? [] : [maker])];
  return Buffer.from(MARK + JSON.stringify(fields)).toString('base64');
}

/** What `carrySeal` made, read back; `undefined` for any other string. */
export function carriedSeal(text: string): CarriedSeal | undefined {
  if (!text.startsWith(BEGINNING)) return undefined;
  let fields: unknown;
  try {
    fields = JSON.parse(Buffer.from(text, 'base64').toString().slice(MARK.length));
  } catch {
    return undefined;
  }
  if (!Array.isArray(fields)) return undefined;
  const [dialect, value, id, of, maker] = fields;
  if (typeof dialect !== 'string' || typeof value !== 'string') return undefined;
  const seal: Seal = {
    dialect,
    value,
    ...(typeof id === 'string' && { id }),
    ...(typeof maker === 'string' && { maker }),
  };
  return typeof of === 'string' ? { seal, of } : { seal };
}
