/** What happens to a call when its client closes the connection before the answer is complete. */
import { type CallContext, type Conclusion, conclude, isFinished } from './call-context.ts';
import type { GatewayDeps } from './gateway-deps.ts';

/** The status recorded for such a call, as nginx records it. */
export const CLIENT_GONE_STATUS = 499;

export const CLIENT_GONE: Conclusion = { outcome: 'aborted', status: CLIENT_GONE_STATUS };

/** Ends the call now: the upstream is cancelled and what was delivered is charged. */
export function abortCall(deps: GatewayDeps, context: CallContext): void {
  conclude(deps, context, CLIENT_GONE).catch((thrown) =>
    deps.reportError('An abandoned call could not be settled.', thrown),
  );
  context.cancellation.cancel();
}

/** Once every choice has finished only usage can follow. It is waited for this long, whatever the model's policy is. */
const USAGE_WAIT_MS = 2000;
/**
 * Into how many timers this wait is divided. A process that was suspended runs a timer that is due before it reads what has arrived
 * meanwhile: a wait of one timer would miss a report that was in time.
 */
const USAGE_LOOKS = 4;

/** Limits how long the upstream is still read: `drainAfterDisconnectMs` if the model is configured with `drain`, and the wait for usage. */
export function limitDrain(deps: GatewayDeps, context: CallContext): void {
  context.isAbandoned = true;
  let looks = 0;
  const end = () => {
    if (context.concluded) return;
    if (looks++ === USAGE_LOOKS || !isFinished(context)) return context.cancellation.cancel();
    setTimeout(end, USAGE_WAIT_MS / USAGE_LOOKS).unref();
  };
  const isDrained = context.model.onDisconnect === 'drain';
  setTimeout(end, isDrained ? deps.settings.drainAfterDisconnectMs : 0).unref();
}
