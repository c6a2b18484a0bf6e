/** Which proofs of thinking go along with a call: those of the target's own maker, also where the client's format lost them. */
import type { Call, ChatCall, Message, Part } from '../canonical/call.ts';
import type { CallContext } from './call-context.ts';
import type { GatewayDeps } from './gateway-deps.ts';
import type { TargetRoute } from './target-route.ts';

/** The call as this target is to be asked; a promise only where the vault has to be looked into. */
export function withProofs(
  { memory }: GatewayDeps,
  context: CallContext,
  { dialect, target, quirks }: TargetRoute,
  call: Call,
  maker: string,
): Call | Promise<Call> {
  if (call.kind !== 'chat' || !dialect.wantsProofs) return call;
  const isWanted = dialect.wantsProofs(call, target.model, quirks);
  context.meter.thinks = isWanted;
  const same = dialect.name === context.dialect.name;
  if (same && context.dialect.handsProofsBack) return call;
  const { account } = context.caller;
  if ((!isWanted && !memory.signatureStore.mayKnow(account)) || !hasTurns(call)) return call;
  return memory.signatureStore.restore(account, maker, call, context.at);
}

/** Mostly a conversation has but begun. */
function hasTurns({ messages }: ChatCall): boolean {
  return messages.some(({ role }) => role === 'assistant');
}

/** The call without the proofs that are of use to other makers alone; what is this one's own needs no name any more. */
export function ownProofs(call: Call, maker: string): Call {
  return call.kind === 'chat' && call.messages.some(hasBound) ? withOwn(call, maker) : call;
}

function withOwn(call: ChatCall, maker: string): Call {
  const messages = call.messages.map(
    (message): Message =>
      hasBound(message) ? { ...message, parts: message.parts.map((part) => own(part, maker)) } : message,
  );
  return { ...call, messages };
}

function hasBound({ parts }: Message): boolean {
  return parts.some(isBound);
}

function isBound(part: Part): boolean {
  return 'seal' in part && part.seal?.maker !== undefined;
}

function own(part: Part, maker: string): Part {
  if (!('seal' in part) || part.seal?.maker === undefined) return part;
  const { maker: made, ...seal } = part.seal;
  // As of a dialect that nobody speaks: each format says in its own way what becomes of a proof that is not its own.
  return { ...part, seal: made === maker ? seal : { ...seal, dialect: made } };
}
