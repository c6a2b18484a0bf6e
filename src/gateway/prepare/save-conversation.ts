/** What is kept of a call that has come to its end: its reply where the client asks for it, and what proves its thinking. */
import type { ChatCall } from '../../canonical/call.ts';
import type { JsonObject } from '../../canonical/json.ts';
import type { Money } from '../../canonical/money.ts';
import type { RememberedResponse } from '../../conversations/conversations.ts';
import type { Keeping, VendorDialect, Writer } from '../../dialects/dialect.ts';
import type { ProofRow } from '../../store/kept.ts';
import { type CallContext, type Conclusion, conclude } from '../call-context.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { reportsIn } from '../own-figures.ts';

/** Whether its reply will be kept. */
export function isKept({ call }: CallContext): boolean {
  return call.kind === 'chat' && call.thread?.replyId !== undefined;
}

/** `undefined`: there is nothing to keep. Otherwise resolves when it is kept, or when it is known that it cannot be. */
export function remember(deps: GatewayDeps, context: CallContext, writer: Writer): Promise<void> | undefined {
  const { call, collector } = context;
  if (call.kind !== 'chat' || (!collector && call.thread?.replyId === undefined)) return undefined;
  const response = keptResponse(context, call, writer);
  const proofs = collector?.proofs(deps.memory.signatureStore, context.caller.account, call, context.at) ?? [];
  if (!response && proofs.length === 0) return undefined;
  return keep(deps, context, response, proofs);
}

async function keep(
  deps: GatewayDeps,
  context: CallContext,
  response: RememberedResponse | undefined,
  proofs: readonly ProofRow[],
): Promise<void> {
  try {
    await deps.memory.keep(response, proofs);
  } catch (thrown) {
    context.warnings = [...context.warnings, 'What should have been kept of this reply could not be.'];
    deps.reportError('What should have been kept of a call could not be.', thrown);
  }
}

function keptResponse(context: CallContext, call: ChatCall, writer: Writer): RememberedResponse | undefined {
  const keeping = context.dialect.keeping as Keeping<ChatCall> | undefined;
  const id = call.thread?.replyId;
  const whole = id !== undefined && writer.kept?.();
  if (!keeping || !whole) return undefined;
  const { input, output, reply } = keeping.keep(call, whole);
  const { previous } = call.thread ?? {};
  return {
    id,
    account: context.caller.account,
    ...(previous !== undefined && { previous }),
    at: context.at,
    // Written anew, every proof says itself whose it is.
    ...(context.upstreamDialect === context.dialect.name && context.maker !== undefined && { maker: context.maker }),
    input: JSON.stringify(input),
    output: JSON.stringify(output),
    reply: JSON.stringify(inOwnFigures(context, reply)),
    items: [...input, ...output].flatMap((item) => (typeof item.id === 'string' ? item.id : [])),
  };
}

/** The reply as its client was given it. */
function inOwnFigures({ disputed }: CallContext, reply: JsonObject): JsonObject {
  if (disputed) reportsIn(reply, disputed);
  return reply;
}

/** Who can make use of a target's proofs: everybody who speaks its dialect, or its row of the catalogue alone. */
export function makerOf(dialect: VendorDialect, provider: string): string {
  return dialect.boundProofs ? `${dialect.name}@${provider}` : dialect.name;
}

/** Settles the call and keeps what `writer` has of its reply: beside each other, unless the settlement decides what is kept. */
export async function concludeAndKeep(
  deps: GatewayDeps,
  context: CallContext,
  writer: Writer | undefined,
  conclusion: Conclusion,
  isDoubted: boolean,
): Promise<Money> {
  const keeping = isDoubted || !writer ? undefined : remember(deps, context, writer);
  const cost = await conclude(deps, context, conclusion);
  await (isDoubted && writer ? remember(deps, context, writer) : keeping);
  return cost;
}
