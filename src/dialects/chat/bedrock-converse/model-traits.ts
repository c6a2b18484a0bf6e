/** What a model takes behind this format, told from its name: the format is one, the models behind it are many. */
import type { Effort } from '../../../canonical/call.ts';

export interface ModelTraits {
  /** Where `top_k` goes; absent: nowhere. */
  topK?: 'top_k' | 'k' | 'inferenceConfig';
  /** How thinking is asked for; absent: not at all. */
  thinking?: 'budget' | 'adaptive' | 'nova' | 'effort';
  /** The efforts the model knows. */
  efforts: readonly Effort[];
  /** A schema for the answer, and strict tools. */
  structuredOutput?: true;
  /** The model can be made to call a tool, or a certain one. */
  forcible?: true;
  /** Whether a tool failed may be said. */
  failures?: true;
  /** Where a cache point may stand; absent: nowhere. */
  cache?: 'messages' | 'everywhere';
  /** The provider's own search tool. */
  webSearch?: string;
}

const EFFORTS = ['low', 'medium', 'high'] as const;
const CLAUDE = { topK: 'top_k', forcible: true, failures: true, cache: 'everywhere', efforts: [] } as const;
const NOVA = { topK: 'inferenceConfig', forcible: true, failures: true, cache: 'messages', efforts: EFFORTS } as const;

/** The first row that matches holds. */
const FAMILIES: readonly (readonly [RegExp, ModelTraits])[] = [
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
/** Inference profiles of the operator's own hide what model is behind them. */
const STRANGER: ModelTraits = { efforts: [] };

export function traitsOf(model: string): ModelTraits {
  const name = model.toLowerCase();
  return FAMILIES.find(([family]) => family.test(name))?.[1] ?? STRANGER;
}
