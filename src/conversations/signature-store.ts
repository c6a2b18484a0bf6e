/** Reasoning signatures by turn, for clients whose format loses them and providers that require them. */
import type { ChatCall, Message, Part } from '../canonical/call.ts';
import type { Reply } from '../canonical/reply.ts';
import type { KeptStore, SignatureRow } from '../store/kept.ts';
import { turnKeys } from './turn-keys.ts';
import { isBare, putBack, readTurn, signaturesOf, type TurnSignatures, writeTurn } from './turn-signatures.ts';

export interface SignatureStore {
  /** Remembers the signatures of the reply's turns in this process, and returns rows to store in the database. */
  remember(account: string, owner: string, call: ChatCall, reply: Reply, now: number): SignatureRow[];
  /** Whether this process remembers anything of the account. */
  mayKnow(account: string): boolean;
  /** The call with this provider's signatures added to turns that came without; the same call if there are none. */
  restore(account: string, owner: string, call: ChatCall, now: number): Promise<ChatCall>;
}

interface StoredSignatures {
  signatures: TurnSignatures;
  expiresAt: number;
  bytes: number;
}

/** For all accounts, in this process; the database has the rest. */
const MOST_BYTES = 64 * 1024 * 1024;
const MOST_ENTRIES = 50_000;
/** Longer signatures of one turn are not stored. */
const LONGEST_BODY = 1024 * 1024;
/** Only the last turns are completed: providers ignore the reasoning of older ones. */
const MOST_TURNS = 64;

/** `keptMs` 0: nothing is stored. */
export function createSignatureStore(kept: KeptStore, keptMs: number): SignatureStore {
  const memory = createSignatureMemory();
  return {
    remember(account, owner, call, reply, now) {
      if (keptMs === 0) return [];
      const expiresAt = now + keptMs;
      return reply.choices.flatMap((choice) => {
        const signatures = signaturesOf(choice, owner);
        const body = signatures && writeTurn(signatures);
        if (!body || body.length > LONGEST_BODY) return [];
        const remembered = { signatures, expiresAt, bytes: body.length };
        return turnKeys(call.messages, call.messages.length, turnOf(choice)).map((key) => {
          memory.set(account, key, remembered);
          return { account, key, expiresAt, body };
        });
      });
    },

    mayKnow: (account) => memory.knows(account),

    async restore(account, owner, call, now) {
      const bare = keptMs === 0 ? new Map() : bareTurns(call.messages);
      if (bare.size === 0) return call;
      const found = new Map<string, TurnSignatures>();
      const unknown: string[] = [];
      for (const keys of bare.values()) {
        for (const key of keys) {
          const known = memory.get(account, key, now);
          if (known) found.set(key, known);
          else unknown.push(key);
        }
      }
      if (unknown.length > 0) {
        for (const { key, body } of await kept.signatures(account, unknown, now)) {
          found.set(key, readTurn(body));
        }
      }
      return found.size === 0 ? call : withSignatures(call, bare, found, owner);
    },
  };
}

/** The keys of the turns without signatures, by their indexes. */
function bareTurns(messages: readonly Message[]): Map<number, string[]> {
  const turns = new Map<number, string[]>();
  for (let index = messages.length - 1; index >= 0 && turns.size < MOST_TURNS; index--) {
    const message = messages[index];
    if (message && isBare(message)) turns.set(index, turnKeys(messages, index, message));
  }
  return turns;
}

function withSignatures(
  call: ChatCall,
  bare: ReadonlyMap<number, string[]>,
  found: ReadonlyMap<string, TurnSignatures>,
  owner: string,
): ChatCall {
  let isEdited = false;
  const messages = call.messages.map((message, index) => {
    const key = bare.get(index)?.find((one) => found.get(one)?.owner === owner);
    const signatures = key === undefined ? undefined : found.get(key);
    const turn = signatures ? putBack(message, signatures) : message;
    isEdited ||= turn !== message;
    return turn;
  });
  return isEdited ? { ...call, messages } : call;
}

/** A reply's choice as the turn that the client sends back. */
function turnOf({ parts }: Reply['choices'][number]): Message {
  return {
    role: 'assistant',
    parts: parts.flatMap(({ opens, content }): Part[] => {
      if (opens.type === 'text' || opens.type === 'refusal') return [{ type: opens.type, text: content }];
      if (opens.type !== 'tool-call') return [];
      return [{ type: 'tool-call', id: opens.id, name: opens.name, input: content }];
    }),
  };
}

interface SignatureMemory {
  set(account: string, key: string, remembered: StoredSignatures): void;
  get(account: string, key: string, now: number): TurnSignatures | undefined;
  knows(account: string): boolean;
}

/** Limited in number and bytes; the least recently used is removed first. */
function createSignatureMemory(): SignatureMemory {
  const entries = new Map<string, StoredSignatures>();
  const counts = new Map<string, number>();
  let bytes = 0;

  function drop(name: string, { bytes: freed }: StoredSignatures): void {
    entries.delete(name);
    bytes -= freed;
    const account = name.slice(0, name.indexOf('/'));
    const left = (counts.get(account) ?? 0) - 1;
    if (left > 0) counts.set(account, left);
    else counts.delete(account);
  }

  return {
    set(account, key, remembered) {
      const name = `${account}/${key}`;
      const known = entries.get(name);
      if (known) drop(name, known);
      entries.set(name, remembered);
      counts.set(account, (counts.get(account) ?? 0) + 1);
      bytes += remembered.bytes;
      for (const [oldest, entry] of entries) {
        if (bytes <= MOST_BYTES && entries.size <= MOST_ENTRIES) break;
        drop(oldest, entry);
      }
    },
    get(account, key, now) {
      const name = `${account}/${key}`;
      const found = entries.get(name);
      if (!found) return undefined;
      if (found.expiresAt <= now) {
        drop(name, found);
        return undefined;
      }
      entries.delete(name);
      entries.set(name, found);
      return found.signatures;
    },
    knows: (account) => counts.has(account),
  };
}
