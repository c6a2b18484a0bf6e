/** Decides which models of this format reason and want their earlier reasoning back. */
import type { ChatCall } from '../../../canonical/call.ts';
import type { Quirks } from '../../dialect.ts';
import { quirksOf } from '../../shared/quirks.ts';

/**
 * If the provider has its own member for reasoning, its models reason. With other providers a model reasons only if the
 * call asks for it.
 */
export function wantsSignatures({ reasoning }: ChatCall, model: string, quirks: Quirks): boolean {
  const { reasoningField } = quirksOf(quirks, model);
  if (reasoningField === 'none') return false;
  return reasoningField !== undefined || (reasoning !== undefined && reasoning.effort !== 'none');
}
