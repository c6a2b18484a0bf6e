/** What is remembered of conversations: responses to go on from, and proofs of thinking for clients that have no place for them. */
import type { KeptStore, NewResponseRow, ProofRow, ResponseRow } from '../store/kept.ts';
import { createKeepBatch } from './keep-batch.ts';
import { createSignatureStore, type SignatureStore } from './signature-store.ts';

export interface MemorySettings {
  /** How long a response is kept; 0: none is. */
  responsesMs: number;
  /** How long a turn's proofs are; 0: none are. */
  proofsMs: number;
}

export interface Memory {
  /** Responses are kept at all. */
  readonly keepsResponses: boolean;
  /** Resolves when what a call leaves is committed: whoever asks from now on, in whichever process, finds it. */
  keep(response: RememberedResponse | undefined, proofs: readonly ProofRow[]): Promise<void>;
  response(account: string, id: string, now: number): Promise<ResponseRow | undefined>;
  /** The response and all that it goes on from, the oldest first; empty where it is not there. */
  responseChain(account: string, id: string, now: number): Promise<ResponseRow[]>;
  responsesWith(account: string, items: readonly string[], now: number): Promise<ResponseRow[]>;
  /** `false`: there is none. */
  forgetResponse(account: string, id: string, now: number): Promise<boolean>;
  readonly signatureStore: SignatureStore;
  /** Removes what is over, some at a time: to be called often, it knows when there is something to do. */
  sweep(now: number): Promise<void>;
}

export type RememberedResponse = Omit<NewResponseRow, 'expiresAt'>;

/** What is found in the database at most; a turn has two. */
const MOST_PROOFS = 1_000_000;
const SWEEP_PAUSE_MS = 600_000;

export function createMemory(kept: KeptStore, { responsesMs, proofsMs }: MemorySettings): Memory {
  const batch = createKeepBatch(kept);
  let nextSweep = 0;
  return {
    keepsResponses: responsesMs > 0,
    keep: (response, proofs) => batch.submit(response && { ...response, expiresAt: response.at + responsesMs }, proofs),
    response: (account, id, now) => kept.response(account, id, now),
    responseChain: (account, id, now) => kept.responseChain(account, id, now),
    responsesWith: async (account, items, now) => (items.length > 0 ? kept.responsesWith(account, items, now) : []),
    forgetResponse: (account, id, now) => kept.forgetResponse(account, id, now),
    signatureStore: createSignatureStore(kept, proofsMs),
    async sweep(now) {
      if (now < nextSweep) return;
      nextSweep = now + SWEEP_PAUSE_MS;
      if (await kept.sweepKept(now, MOST_PROOFS)) nextSweep = now;
    },
  };
}
