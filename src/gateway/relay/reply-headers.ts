/** The headers of an answer: request id, attempts, provider, warnings, what is left of the caller's rate limits. */
import { type Money, writeMoney } from '../../canonical/money.ts';
import type { RateLimits } from '../../canonical/rate-limits.ts';
import type { Dialect, Writer } from '../../dialects/dialect.ts';
import { openaiLimitHeaders } from '../../dialects/shared/rate-limit-headers.ts';
import type { CallContext } from '../call-context.ts';
import type { GatewaySettings } from '../gateway-deps.ts';

type HeaderValues = { [name: string]: string };

export function replyHeaders(
  { showProvider }: Pick<GatewaySettings, 'showProvider'>,
  context: CallContext,
  { contentType }: Writer,
): HeaderValues {
  const headers: HeaderValues = {
    'content-type': contentType,
    'x-request-id': context.id,
    'x-modelport-attempts': String(context.attempts),
  };
  if (showProvider && context.target) headers['x-modelport-provider'] = context.target.provider;
  if (context.cache) headers['x-modelport-cache'] = context.cache.status;
  const { limits } = context.pace;
  if (limits) Object.assign(headers, limitHeaders(context.dialect, limits, context.at));
  if (context.warnings.length > 0) headers['x-modelport-warnings'] = warningsHeader(context.warnings);
  return headers;
}

/** The attempts and the provider of a stream whose headers left before it answered, as comments. */
export function attemptsComment(
  { showProvider }: Pick<GatewaySettings, 'showProvider'>,
  { attempts, target }: CallContext,
): string {
  const provider =
    showProvider && target ? `: modelport-provider: ${target.provider.replace(/[^\x20-\x7e]/g, '?')}\n` : '';
  return `: modelport-attempts: ${attempts}\n${provider}\n`;
}

/** What a stream has cost, which its headers could not say. */
export const costComment = (cost: Money): string => `: {"cost":"${writeMoney(cost)}"}\n\n`;

/** What is left of the caller's limits, under the header names of the client's format. */
export function limitHeaders({ limitHeaders: own }: Dialect, limits: RateLimits, now: number): HeaderValues {
  return (own ?? openaiLimitHeaders)(limits, now);
}

/** Adds to the warnings of the request those of its reply. */
export function addReplyWarnings(context: CallContext, { warnings }: Writer): void {
  if (warnings.length > 0) context.warnings = [...context.warnings, ...warnings];
  if (context.skippedEvents > 0) context.warnings = [...context.warnings, skipWarning(context)];
}

/** What is missing from the reply because it could not be read. */
export function skipWarning({ skippedEvents: count }: CallContext): string {
  const events = count === 1 ? 'One event' : `${count} events`;
  return `${events} of the provider's stream could not be read: some of the text is missing.`;
}

const MAX_WARNINGS_LENGTH = 4000;

/** What a translation dropped or approximated, as the value of `x-modelport-warnings`: printable ASCII of limited length. */
export function warningsHeader(warnings: readonly string[]): string {
  return warnings
    .join(' ')
    .replaceAll('’', "'")
    .replace(/[^\x20-\x7e]/g, '?')
    .slice(0, MAX_WARNINGS_LENGTH);
}
