/** The call as one of its attempts sees it: what the attempt sets stays in its view until it is taken. */
import type { ModelTarget } from '../../catalog/catalog.ts';
import type { TrackedAttempt } from '../../routing/tracked-attempt.ts';
import { Cancellation } from '../../transport/cancellation.ts';
import type { CallContext } from '../call-context.ts';

/** What differs from the call itself. */
type Own = Partial<Pick<CallContext, 'call' | 'media' | 'meter'>>;

/** Its cancellation ends only this attempt. */
export function viewOf(context: CallContext, attempt: TrackedAttempt<ModelTarget>, own: Own = {}): CallContext {
  const view = Object.create(context) as CallContext;
  const cancellation = new Cancellation(context.cancellation);
  context.cancellation.add(cancellation);
  Object.assign(view, { attempt, cancellation, ...own });
  // The reader of the answer counts here after the view was taken.
  Object.defineProperty(view, 'skippedEvents', {
    get: () => context.skippedEvents,
    set: (count: number) => {
      context.skippedEvents = count;
    },
  });
  let sendings = 1;
  // Known only once the request was prepared, which may be after the call went on with this attempt.
  Object.defineProperty(view, 'sendings', {
    get: () => sendings,
    set: (count: number) => {
      sendings = count;
      if (context.ownCancellation === cancellation) context.sendings = count;
    },
  });
  return view;
}

/** The call continues with this attempt. */
export function adopt(context: CallContext, view: CallContext): void {
  context.attempt = view.attempt;
  context.ownCancellation = view.cancellation;
  context.target = view.target;
  context.upstreamDialect = view.upstreamDialect;
  context.warnings = view.warnings;
  context.sendings = view.sendings;
  context.signatureOwner = view.signatureOwner;
  context.sent = view.sent;
  const { call, signatureOwner } = view;
  if (call.kind === 'chat' && call.thread && signatureOwner !== undefined) call.thread.owner = signatureOwner;
}
