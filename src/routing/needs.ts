/** What a call needs of a target, and which targets have it, as far as the catalog knows. Pure. */
import type { Call, ChatCall } from '../canonical/call.ts';

/** Kinds of input that a target may or may not take; text is always taken. */
export const INPUTS = ['image', 'audio', 'video', 'document'] as const;
export type InputKind = (typeof INPUTS)[number];

/** What becomes of prompts at a target: it keeps none, keeps them for a while, or trains on them. From the strictest. */
export const DATA_POLICIES = ['none', 'retained', 'training'] as const;
export type DataPolicy = (typeof DATA_POLICIES)[number];

/** Configured capabilities of a target; an absent one is unknown and excludes nothing. */
export interface Capabilities {
  inputs?: readonly InputKind[];
  tools?: boolean;
  structuredOutput?: boolean;
  contextTokens?: number;
  dataPolicy?: DataPolicy;
}

/** What a call needs. */
export interface Needs {
  inputs: readonly InputKind[];
  tools: boolean;
  structuredOutput: boolean;
  /** The estimated input. */
  tokens: number;
  /** The least strict policy that the caller accepts; absent: any. */
  dataPolicy?: DataPolicy;
}

/** What the call needs. `tokens`: its estimated input. Only conversations need more than a context window that is large enough. */
export function needsOf(call: Call, tokens: number): Needs {
  if (call.kind !== 'chat') return { inputs: [], tools: false, structuredOutput: false, tokens };
  return {
    inputs: inputsOf(call),
    tools: call.tools.length > 0,
    structuredOutput: call.output !== undefined,
    tokens,
  };
}

function inputsOf(call: ChatCall): InputKind[] {
  const found = new Set<InputKind>();
  for (const message of call.messages) {
    for (const part of message.parts) {
      if (part.type === 'media') addInput(found, part.media.kind);
      else if (part.type === 'tool-result')
        for (const inner of part.parts) if (inner.type === 'media') addInput(found, inner.media.kind);
    }
  }
  return [...found];
}

function addInput(found: Set<InputKind>, kind: string): void {
  const input = INPUTS.find((one) => one === kind);
  if (input) found.add(input);
}

/** What this target lacks, for the error message; `undefined`: it has everything that is known to be needed. */
export function lacks(capabilities: Capabilities, needs: Needs): string | undefined {
  const { inputs, tools, structuredOutput, contextTokens, dataPolicy } = capabilities;
  const missing = inputs && needs.inputs.find((kind) => !inputs.includes(kind));
  if (missing) return `${missing} input`;
  if (tools === false && needs.tools) return 'tools';
  if (structuredOutput === false && needs.structuredOutput) return 'structured output';
  if (needs.dataPolicy !== undefined && isLooser(dataPolicy, needs.dataPolicy))
    return `data policy ${needs.dataPolicy}`;
  if (contextTokens !== undefined && needs.tokens > contextTokens) return `a context of ${needs.tokens} tokens`;
  return undefined;
}

/** Without a stated policy the least strict one is assumed. */
function isLooser(policy: DataPolicy = 'training', accepted: DataPolicy): boolean {
  return DATA_POLICIES.indexOf(policy) > DATA_POLICIES.indexOf(accepted);
}
