/** The reasoning and signatures of a turn, and how they are put back into it. */
import type { Message, Part, ReasoningPart, ReasoningSignature, TextPart, ToolCallPart } from '../canonical/call.ts';
import type { Reply } from '../canonical/reply.ts';

/** A turn's parts in order; only reasoning and signatures are complete. */
export interface TurnSignatures {
  /** The provider that made them. */
  owner: string;
  parts: SignedPart[];
}

type SignedPart =
  | ReasoningPart
  /** `empty`: it contains only the signature, and clients drop it. */
  | { type: 'text'; signature?: ReasoningSignature; empty?: true }
  | { type: 'tool-call'; signature?: ReasoningSignature };

/** The signatures in one choice of a reply, or `undefined`. */
export function signaturesOf(choice: Reply['choices'][number], owner: string): TurnSignatures | undefined {
  let isNeeded = false;
  const parts = choice.parts.flatMap(({ opens, content, signature }): SignedPart[] => {
    const signed = signature ? { signature } : {};
    if (signature) isNeeded = true;
    switch (opens.type) {
      case 'reasoning':
        isNeeded ||= content !== '';
        return [{ type: 'reasoning', text: content, ...signed, ...(opens.summary && { summary: true }) }];
      case 'text':
        return [{ type: 'text', ...signed, ...(content === '' && { empty: true as const }) }];
      case 'tool-call':
        return [{ type: 'tool-call', ...signed }];
      default:
        return [];
    }
  });
  return isNeeded ? { owner, parts } : undefined;
}

/** Whether a turn came back without any signature. */
export function isBare({ role, parts }: Message): boolean {
  return role === 'assistant' && !parts.some((part) => 'signature' in part && part.signature !== undefined);
}

/** The turn with its signatures in their places; the same turn if they add nothing. */
export function putBack(turn: Message, signatures: TurnSignatures): Message {
  const hasSignature = signatures.parts.some((part) => part.signature !== undefined);
  const hasThoughts = turn.parts.some((part) => part.type === 'reasoning');
  if (hasThoughts && !hasSignature) return turn;
  const rest = turn.parts.filter((part) => part.type !== 'reasoning');
  const parts: Part[] = [];
  let next = 0;
  for (const kept of signatures.parts) {
    if (kept.type === 'reasoning') {
      parts.push(kept);
      continue;
    }
    const at = rest.findIndex((part, index) => index >= next && part.type === kept.type);
    if (at >= 0) {
      parts.push(...rest.slice(next, at), withSignature(rest[at] as TextPart | ToolCallPart, kept.signature));
      next = at + 1;
    } else if (kept.type === 'text' && kept.empty && kept.signature) {
      parts.push({ type: 'text', text: '', signature: kept.signature });
    }
  }
  return { ...turn, parts: [...parts, ...rest.slice(next)] };
}

function withSignature<P extends TextPart | ToolCallPart>(part: P, signature: ReasoningSignature | undefined): P {
  return signature ? { ...part, signature } : part;
}

/** As stored. The members keep the names of the first version: older gateways read them while others are upgraded. */
interface StoredTurn {
  maker: string;
  parts: (Omit<SignedPart, 'signature'> & { seal?: StoredSignature })[];
}

type StoredSignature = Omit<ReasoningSignature, 'owner'> & { maker?: string };

export function writeTurn({ owner, parts }: TurnSignatures): string {
  const stored = parts.map(({ signature, ...part }) => ({ ...part, ...(signature && { seal: toStored(signature) }) }));
  return JSON.stringify({ maker: owner, parts: stored } satisfies StoredTurn);
}

export function readTurn(body: string): TurnSignatures {
  const { maker, parts } = JSON.parse(body) as StoredTurn;
  const read = parts.map(({ seal, ...part }) => ({ ...part, ...(seal && { signature: fromStored(seal) }) }));
  return { owner: maker, parts: read as SignedPart[] };
}

function toStored({ owner, ...rest }: ReasoningSignature): StoredSignature {
  return { ...rest, ...(owner !== undefined && { maker: owner }) };
}

function fromStored({ maker, ...rest }: StoredSignature): ReasoningSignature {
  return { ...rest, ...(maker !== undefined && { owner: maker }) };
}
