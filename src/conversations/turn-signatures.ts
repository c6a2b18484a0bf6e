/** The reasoning and signatures of a turn, and how they are put back into it. */
import type { Message, Part, ReasoningPart, ReasoningSignature, TextPart, ToolCallPart } from '../canonical/call.ts';
import type { Reply } from '../canonical/reply.ts';

/** A turn's parts in order; only reasoning and signatures are complete. */
export interface TurnProofs {
  /** The provider that made them. */
  maker: string;
  parts: ProofPart[];
}

type ProofPart =
  | ReasoningPart
  /** `empty`: it contains only the signature, and clients drop it. */
  | { type: 'text'; seal?: ReasoningSignature; empty?: true }
  | { type: 'tool-call'; seal?: ReasoningSignature };

/** The signatures in one choice of a reply, or `undefined`. */
export function proofsOf(choice: Reply['choices'][number], maker: string): TurnProofs | undefined {
  let hasProof = false;
  const parts = choice.parts.flatMap(({ opens, content, seal }): ProofPart[] => {
    const sealed = seal ? { seal } : {};
    if (seal) hasProof = true;
    switch (opens.type) {
      case 'reasoning':
        hasProof ||= content !== '';
        return [{ type: 'reasoning', text: content, ...sealed, ...(opens.summary && { summary: true }) }];
      case 'text':
        return [{ type: 'text', ...sealed, ...(content === '' && { empty: true as const }) }];
      case 'tool-call':
        return [{ type: 'tool-call', ...sealed }];
      default:
        return [];
    }
  });
  return hasProof ? { maker, parts } : undefined;
}

/** Whether a turn came back without any signature. */
export function isBare({ role, parts }: Message): boolean {
  return role === 'assistant' && !parts.some((part) => 'seal' in part && part.seal !== undefined);
}

/** The turn with its signatures in their places; the same turn if they add nothing. */
export function putBack(turn: Message, proofs: TurnProofs): Message {
  const hasSeal = proofs.parts.some((part) => part.seal !== undefined);
  const hasThoughts = turn.parts.some((part) => part.type === 'reasoning');
  if (hasThoughts && !hasSeal) return turn;
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
      parts.push(...rest.slice(next, at), sealed(rest[at] as TextPart | ToolCallPart, proof.seal));
      next = at + 1;
    } else if (proof.type === 'text' && proof.empty && proof.seal) {
      parts.push({ type: 'text', text: '', seal: proof.seal });
    }
  }
  return { ...turn, parts: [...parts, ...rest.slice(next)] };
}

function sealed<P extends TextPart | ToolCallPart>(part: P, seal: ReasoningSignature | undefined): P {
  return seal ? { ...part, seal } : part;
}
