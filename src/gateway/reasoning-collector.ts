/** Sees a reply go by in which there is thinking, for what proves it. */
import type { ChatCall } from '../canonical/call.ts';
import { addEvent, emptyReply, type ReplyEvent } from '../canonical/reply.ts';
import type { SignatureStore } from '../conversations/signature-store.ts';
import type { ProofRow } from '../store/kept.ts';

/** Longer replies are not remembered: what proves a turn is small beside it. */
const MOST_CHARACTERS = 8 * 1024 * 1024;

export class ReasoningCollector {
  readonly #maker: string;
  /** The maker's proofs are of use to nobody else, and say so wherever they go. */
  readonly #isBound: boolean;
  readonly #reply = emptyReply();
  #characters = 0;

  constructor(maker: string, isBound: boolean) {
    this.#maker = maker;
    this.#isBound = isBound;
  }

  see(events: readonly ReplyEvent[]): void {
    for (const event of events) {
      if (event.type === 'part-delta') this.#characters += event.delta.length;
      if (event.type === 'part-seal' && this.#isBound) event.seal.maker = this.#maker;
      if (this.#characters <= MOST_CHARACTERS) addEvent(this.#reply, event);
    }
  }

  proofs(signatureStore: SignatureStore, account: string, call: ChatCall, at: number): ProofRow[] {
    if (this.#characters > MOST_CHARACTERS) return [];
    return signatureStore.remember(account, this.#maker, call, this.#reply, at);
  }
}
