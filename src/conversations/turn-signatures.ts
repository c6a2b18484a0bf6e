/** The reasoning and signatures of a turn, and how they are put back into it. */
import type { Message, Part, ReasoningPart, ReasoningSignature, TextPart, ToolCallPart } from '../canonical/call.ts';
import type { Reply } from '../canonical/reply.ts';

/** A turn's parts in order; only reasoning and signatures are complete. */
export interface TurnProofs {
  /** The provider that made them. */
  owner: string;
  parts: ProofPart[];
}

type ProofPart =
  | ReasoningPart
  /** `empty`: it contains only the signature, and clients drop it. */
  | { type: 'text'; signature?: ReasoningSignature; empty?: true }
  | { type: 'tool-call'; signature?: ReasoningSignature };

/** The signatures in one choice of a reply, or `undefined`. */
export function proofsOf(choice: Reply['choices'][number], owner: string): TurnProofs | undefined {
  let hasProof = false;
  const parts = choice.parts.flatMap(({ opens, content, signature }): ProofPart[] => {
    const signed = signature ? { signature } : {};
    if (signature) hasProof = true;
    switch (opens.type) {
      case 'reasoning':
        hasProof ||= content !== '';
        return [{ type: 'reasoning', text: content, ...signed, ...(opens.summary && { summary: true }) }];
      case 'text':
        return [{ type: 'text', ...signed, ...(content === '' && { empty: true as const }) }];
      case 'tool-call':
        return [{ type: 'tool-call', ...signed }];
      default:
        return [];
    }
  });
  return hasProof ? { owner, parts } : undefined;
}

/** Whether a turn came back without any signature. */
export function isBare({ role, parts }: Message): boolean {
  return role === 'assistant' && !parts.some((part) => 'signature' in part && part.signature !== undefined);
}

/** The turn with its signatures in their places; the same turn if they add nothing. */
export function putBack(turn: Message, proofs: TurnProofs): Message {
  const hasSignature = proofs.parts.some((part) => part.signature !== undefined);
  const hasThoughts = turn.parts.some((part) => part.type === 'reasoning');
  if (hasThoughts && !hasSignature) return turn;
  const rest = turn.parts.filter((part) => part.type !== 'reasoning');
  const parts: Part[] = [];
  let next = 0;
  for (const proof of proofs.parts) {
    if (proof.type === 'reasoning') {
      parts.push(proof);
      continue;
    }
    const at = rest.findIndex((part, index) => index >= next && part.type === proof.type);
    if (at >= 0) {
      parts.push(...rest.slice(next, at), signed(rest[at] as TextPart | ToolCallPart, proof.signature));
      next = at + 1;
    } else if (proof.type === 'text' && proof.empty && proof.signature) {
      parts.push({ type: 'text', text: '', signature: proof.signature });
    }
  }
  return { ...turn, parts: [...parts, ...rest.slice(next)] };
}

function signed<P extends TextPart | ToolCallPart>(part: P, signature: ReasoningSignature | undefined): P {
  return signature ? { ...part, signature } : part;
}

/** As stored. The members keep the names of the first version: older gateways read them while others are upgraded. */
interface StoredTurn {
  maker: string;
  parts: (Omit<ProofPart, 'signature'> & { seal?: StoredSignature })[];
}

type StoredSignature = Omit<ReasoningSignature, 'owner'> & { maker?: string };

export function writeTurn({ owner, parts }: TurnProofs): string {
  const stored = parts.map(({ signature, ...part }) => ({ ...part, ...(signature && { seal: toStored(signature) }) }));
  return JSON.stringify({ maker: owner, parts: stored } satisfies StoredTurn);
}

export function readTurn(body: string): TurnProofs {
  const { maker, parts } = JSON.parse(body) as StoredTurn;
  const read = parts.map(({ seal, ...part }) => ({ ...part, ...(seal && { signature: fromStored(seal) }) }));
  return { owner: maker, parts: read as ProofPart[] };
}

function toStored({ owner, ...rest }: ReasoningSignature): StoredSignature {
  return { ...rest, ...(owner !== undefined && { maker: owner }) };
}

function fromStored({ maker, ...rest }: StoredSignature): ReasoningSignature {
  return { ...rest, ...(maker !== undefined && { owner: maker }) };
}
