/** The explanation of a refusal. Some formats put it into the reply's text, others beside the finish reason. */
import type { Finish, ReplyPart } from '../../../canonical/reply.ts';

/** The reason of a refusal, if no part of the reply contains it. */
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
