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

/** Limits how long the upstream is still read: `drainAfterDisconnectMs` if the model is configured with `drain`, and the wait for usage. */
export function limitDrain(deps: GatewayDeps, context: CallContext): void {
  context.isAbandoned = true;
  let isLast = false;
  const end = () => {
    if (context.concluded) return;
    if (isLast || !isFinished(context)) return context.cancellation.cancel();
    isLast = true;
    setTimeout(end, USAGE_WAIT_MS).unref();
  };
  const isDrained = context.model.onDisconnect === 'drain';
  setTimeout(end, isDrained ? deps.settings.drainAfterDisconnectMs : 0).unref();
}
