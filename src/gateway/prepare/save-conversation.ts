/** Stores what is kept of a finished call: its reply, where the client wants it stored, and its reasoning signatures. */
import type { ChatCall } from '../../canonical/call.ts';
import type { JsonObject } from '../../canonical/json.ts';
import type { Money } from '../../canonical/money.ts';
import type { RememberedResponse } from '../../conversations/conversations.ts';
import type { Keeping, Writer } from '../../dialects/dialect.ts';
import type { SignatureRow } from '../../store/kept.ts';
import { type CallContext, type Conclusion, conclude } from '../call-context.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { reportsIn } from '../settle/own-figures.ts';

/** Stores the reply and its signatures; `undefined`: there is nothing to store. Never rejects: a failure becomes a warning. */
export function saveReply(deps: GatewayDeps, context: CallContext, writer: Writer): Promise<void> | undefined {
  const { call, collector } = context;
  if (call.kind !== 'chat' || (!collector && call.thread?.replyId === undefined)) return undefined;
  const response = storedResponse(context, call, writer);
  const signatures = collector?.signatures(deps.memory.signatureStore, context.caller.account, call, context.at) ?? [];
  if (!response && signatures.length === 0) return undefined;
  return save(deps, context, response, signatures);
}

async function save(
  deps: GatewayDeps,
  context: CallContext,
  response: RememberedResponse | undefined,
  signatures: readonly SignatureRow[],
): Promise<void> {
  try {
    await deps.memory.keep(response, signatures);
  } catch (thrown) {
    context.warnings = [...context.warnings, 'What should have been kept of this reply could not be.'];
    deps.reportError('What should have been kept of a call could not be.', thrown);
  }
}

function storedResponse(context: CallContext, call: ChatCall, writer: Writer): RememberedResponse | undefined {
  const keeping = context.dialect.keeping as Keeping<ChatCall> | undefined;
  const id = call.thread?.replyId;
  const whole = id !== undefined && writer.kept?.();
  if (!keeping || !whole) return undefined;
  const { input, output, reply } = keeping.keep(call, whole);
  const { previous } = call.thread ?? {};
  const isSame = context.upstreamDialect === context.dialect.name;
  const owner = context.signatureOwner;
  return {
    id,
    account: context.caller.account,
    ...(previous !== undefined && { previous }),
    at: context.at,
    // In a translated reply every signature names its owner itself.
    ...(isSame && owner !== undefined && { owner }),
    input: JSON.stringify(input),
    output: JSON.stringify(output),
    reply: JSON.stringify(inOwnFigures(context, reply)),
    items: [...input, ...output].flatMap((item) => (typeof item.id === 'string' ? item.id : [])),
  };
}

/** The reply as its client got it: with our own count where the usage report was disputed. */
function inOwnFigures({ disputed }: CallContext, reply: JsonObject): JsonObject {
  if (disputed) reportsIn(reply, disputed);
  return reply;
}

/** Settles the call and stores its reply, at the same time unless the settlement may change the stored usage (`isDoubted`). */
export function concludeAndSave(
  deps: GatewayDeps,
  context: CallContext,
  writer: Writer | undefined,
  conclusion: Conclusion,
  isDoubted: boolean,
): Promise<Money> {
  const saving = isDoubted || !writer ? undefined : saveReply(deps, context, writer);
  const concluding = conclude(deps, context, conclusion);
  if (saving) return both(concluding, saving);
  return isDoubted && writer ? concluding.then((cost) => both(cost, saveReply(deps, context, writer))) : concluding;
}

async function both(cost: Money | Promise<Money>, saving: Promise<void> | undefined): Promise<Money> {
  const [settled] = await Promise.all([cost, saving]);
  return settled;
}
