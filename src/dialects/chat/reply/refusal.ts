/** The words of a refusal where a format says them in the reply, and another beside its end. */
import type { Finish, ReplyPart } from '../../../canonical/reply.ts';

/** Why a reply was refused, where no part of it says so. */
export function explainedRefusal(
  { reason, explanation }: Finish,
  parts: readonly (Pick<ReplyPart, 'opens'> | undefined)[],
): string | undefined {
  if (reason !== 'refusal' && reason !== 'content-filter') return undefined;
  return saysRefusal(parts) ? undefined : explanation;
}

export function saysRefusal(parts: readonly (Pick<ReplyPart, 'opens'> | undefined)[]): boolean {
  return parts.some((part) => part?.opens.type === 'refusal');
}
