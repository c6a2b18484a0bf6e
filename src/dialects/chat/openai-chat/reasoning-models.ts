/** Which of this format's models think, and are to be told again what they thought. */
import type { ChatCall } from '../../../canonical/call.ts';
import type { Quirks } from '../../dialect.ts';
import { quirksOf } from '../../shared/quirks.ts';

/** Providers that have a place of their own for thoughts have models that think; of all others only who is asked to does. */
export function wantsProofs({ reasoning }: ChatCall, model: string, quirks: Quirks): boolean {
  const { reasoningField } = quirksOf(quirks, model);
  if (reasoningField === 'none') return false;
  return reasoningField !== undefined || (reasoning !== undefined && reasoning.effort !== 'none');
}
