/** Reasoning signatures that the client's format could not carry, put back before the target sees the conversation. */
import type { Call, ChatCall, Message, Part } from '../../canonical/call.ts';
import type { ProviderDialect } from '../../dialects/dialect.ts';
import type { CallContext } from '../call-context.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import type { TargetRoute } from '../target-route.ts';

/** Whether signatures of earlier turns may be missing that the target wants. */
export function missesSignatures(
  { memory }: GatewayDeps,
  context: CallContext,
  call: Call,
  route: TargetRoute,
): boolean {
  if (call.kind !== 'chat' || !route.dialect.wantsSignatures || !hasModelTurns(call)) return false;
  // A client of this format returns signatures itself: one that is missing was left out on purpose.
  if (route.dialect.name === context.dialect.name && context.dialect.returnsSignatures) return false;
  return expectsReasoning(call, route) || memory.signatureStore.mayKnow(context.caller.account);
}

export async function withSignatures({ memory }: GatewayDeps, context: CallContext, call: Call): Promise<Call> {
  if (call.kind !== 'chat') return call;
  return memory.signatureStore.restore(context.caller.account, context.signatureOwner ?? '', call, context.at);
}

/** Whether the target's model signs its reasoning in this call and wants the signatures of earlier turns. */
export function expectsReasoning(call: Call, { dialect, target, quirks }: TargetRoute): boolean {
  return call.kind === 'chat' && dialect.wantsSignatures?.(call, target.model, quirks) === true;
}

/** Who can use the signatures of a target: every provider of its format, or only its own row of the catalog. */
export function signatureOwnerOf(dialect: ProviderDialect, provider: string): string {
  return dialect.hasBoundSignatures ? `${dialect.name}@${provider}` : dialect.name;
}

/** Most conversations are at their first turn. */
function hasModelTurns({ messages }: ChatCall): boolean {
  return messages.some(({ role }) => role === 'assistant');
}

/** The call without the name of the owner on the target's own signatures, and with those of other owners marked as foreign. */
export function ownSignatures(call: Call, owner: string): Call {
  return call.kind === 'chat' && call.messages.some(hasBound) ? withOwn(call, owner) : call;
}

function withOwn(call: ChatCall, owner: string): Call {
  const messages = call.messages.map(
    (message): Message =>
      hasBound(message) ? { ...message, parts: message.parts.map((part) => own(part, owner)) } : message,
  );
  return { ...call, messages };
}

function hasBound({ parts }: Message): boolean {
  return parts.some(isBound);
}

function isBound(part: Part): boolean {
  return 'signature' in part && part.signature?.owner !== undefined;
}

function own(part: Part, owner: string): Part {
  if (!('signature' in part) || part.signature?.owner === undefined) return part;
  const { owner: signatureOwner, ...signature } = part.signature;
  // A format that does not exist: each format decides itself what happens to a signature of another.
  return { ...part, signature: signatureOwner === owner ? signature : { ...signature, dialect: signatureOwner } };
}
