/** Step: a call is sent as one of another kind, because that is how the target's model generates images or speech. */
import type { Call, Kind } from '../../canonical/call.ts';
import type { Step } from '../target-call.ts';
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

export const changeKind: Step = {
  applies: ({ call, route }) => call.kind !== route.kind,

  run(prepared) {
    const changed = asKind(prepared.call, prepared.route.kind);
    if (!changed) return;
    prepared.call = changed.call;
    prepared.losses = changed.losses;
  },
};
