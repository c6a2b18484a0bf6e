/** Capabilities of a model behind Converse, by its name. The format is one; each model family differs. */
import type { Effort } from '../../../canonical/call.ts';

export interface ConverseModelTraits {
  /** The member for `top_k`; absent if the model has none. */
  topK?: 'top_k' | 'k' | 'inferenceConfig';
  /** How thinking is requested; absent if the model has none. */
  thinking?: 'budget' | 'adaptive' | 'nova' | 'effort';
  /** The efforts that the model supports. */
  efforts: readonly Effort[];
  /** Supports a JSON schema for the output, and strict tools. */
  structuredOutput?: true;
  /** Supports a forced tool call. */
  forcible?: true;
  /** Accepts `status` in tool results. */
  failures?: true;
  /** Where cache points are accepted; absent: nowhere. */
  cache?: 'messages' | 'everywhere';
  /** The provider's own web search tool. */
  webSearch?: string;
}

const EFFORTS = ['low', 'medium', 'high'] as const;
const CLAUDE = { topK: 'top_k', forcible: true, failures: true, cache: 'everywhere', efforts: [] } as const;
const NOVA = { topK: 'inferenceConfig', forcible: true, failures: true, cache: 'messages', efforts: EFFORTS } as const;

/** The first matching row applies. */
const FAMILIES: readonly (readonly [RegExp, ConverseModelTraits])[] = [
  [/claude-(\d|instant|v\d)(?![-.]7)/, CLAUDE],
  [/claude-(3[-.]7|(opus|sonnet)-4-(\d{8}|1))/, { ...CLAUDE, thinking: 'budget' }],
  [/claude-\w+-4-[56]/, { ...CLAUDE, thinking: 'budget', structuredOutput: true }],
  [/claude/, { ...CLAUDE, thinking: 'adaptive', efforts: [...EFFORTS, 'xhigh', 'max'], structuredOutput: true }],
  [/nova-(2|\w+-v2)/, { ...NOVA, thinking: 'nova', webSearch: 'nova_grounding' }],
  [/amazon\.nova/, NOVA],
  [/openai\./, { thinking: 'effort', efforts: EFFORTS, structuredOutput: true }],
  [/deepseek\.(?!r1)|qwen\.|moonshot|minimax|google\.gemma|nvidia\.|zai\./, { efforts: [], structuredOutput: true }],
  [/mistral\.(ministral|magistral|mistral-large-3|voxtral)/, { efforts: [], structuredOutput: true, forcible: true }],
  [/mistral\./, { topK: 'top_k', efforts: [], forcible: true }],
  [/cohere\./, { topK: 'k', efforts: [] }],
];
/** The name of an inference profile does not tell the model, so only common features are used. */
const STRANGER: ConverseModelTraits = { efforts: [] };

export function traitsOf(model: string): ConverseModelTraits {
  const name = model.toLowerCase();
  return FAMILIES.find(([family]) => family.test(name))?.[1] ?? STRANGER;
}
