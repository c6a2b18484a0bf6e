/** Begins the capture of a call's request and reply. */
import type { CaptureMode } from '../canonical/capture-mode.ts';
import type { Capture } from '../telemetry/captures/capture.ts';
import type { CallContext } from './call-context.ts';
import type { GatewayDeps } from './gateway-deps.ts';
import { attemptedWith } from './redaction.ts';

/** `undefined`: nothing of the call is stored. */
export function captureOf(
  deps: GatewayDeps,
  context: CallContext,
  mode: CaptureMode,
  request: Uint8Array,
): Capture | undefined {
  if (mode === 'none' || !deps.captures) return undefined;
  const { id, at, caller, model, dialect } = context;
  const { account, key } = caller;
  const secrets = () => attemptedWith(deps, context);
  return deps.captures.begin(
    { id, at, account, key, model: model.wildcard ?? model.name, format: dialect.name, mode, secrets },
    request,
  );
}
