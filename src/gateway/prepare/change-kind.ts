/** A call as one of another kind, because that is how the target's model generates images or speech. Pure. */
import type { Call, Kind } from '../../canonical/call.ts';
import { asConversation, asImages } from './image-calls.ts';
import { asSpeech } from './speech-calls.ts';

/** A call in the members of another kind, and what those cannot express, a sentence each. */
export interface ChangedCall {
  call: Call;
  losses: readonly string[];
}

/** `undefined`: the call is of this kind already, or is sent as it is. */
export function asKind(call: Call, kind: Kind): ChangedCall | undefined {
  if (call.kind === 'image' && kind === 'chat') return asConversation(call);
  if (call.kind === 'chat' && kind === 'image') return asImages(call);
  if (call.kind === 'chat' && kind === 'speech') return asSpeech(call);
  return undefined;
}
