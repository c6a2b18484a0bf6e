/** Collects a reply that has reasoning in it, so that its signatures can be stored. */
import type { ChatCall } from '../../canonical/call.ts';
import { addEvent, emptyReply, type ReplyEvent } from '../../canonical/reply.ts';
import type { SignatureStore } from '../../conversations/signature-store.ts';
import type { SignatureRow } from '../../store/kept.ts';

/** Signatures of longer replies are not stored. */
const MOST_CHARACTERS = 8 * 1024 * 1024;

export class ReasoningCollector {
  readonly #owner: string;
  /** Only the owner's own row of the catalog can use its signatures: each names its owner. */
  readonly #isBound: boolean;
  readonly #reply = emptyReply();
  #characters = 0;

  constructor(owner: string, isBound: boolean) {
    this.#owner = owner;
    this.#isBound = isBound;
  }

  see(events: readonly ReplyEvent[]): void {
    for (const event of events) {
      if (event.type === 'part-delta') this.#characters += event.delta.length;
      if (event.type === 'part-signature' && this.#isBound) event.signature.owner = this.#owner;
      if (this.#characters <= MOST_CHARACTERS) addEvent(this.#reply, event);
    }
  }

  /** The rows to store. */
  signatures(signatureStore: SignatureStore, account: string, call: ChatCall, at: number): SignatureRow[] {
    if (this.#characters > MOST_CHARACTERS) return [];
    return signatureStore.remember(account, this.#owner, call, this.#reply, at);
  }
}
