/** Generates the sandbox's answers from the call by fixed rules: the same call gives the same answer. */
import type { ChatCall, Effort, Tool } from '../canonical/call.ts';
import { GatewayError } from '../canonical/errors.ts';
import type { Json } from '../canonical/json.ts';
import { type AudioData, speak } from './audio.ts';
import { joinedText, lastPrompt, mediaNote, mostPlain, signaturesHandedBack, toolResults } from './conversation.ts';
import { readDirectives, withoutDirectives } from './directives.ts';
import { fitSchema } from './fit-schema.ts';
import { generateImage, IMAGE_MODEL, imageSize } from './image.ts';
import { tokensOfAtLeast } from './output.ts';
import { tokensIn } from './tokens.ts';

/** The content of one choice. Tokens are generated as they are read, and can be read once. */
export interface SandboxAnswer {
  reasoning: Iterator<string>;
  text: Iterator<string>;
  refusal: Iterator<string>;
  calls: AnswerCall[];
  /** PNG. */
  image?: () => Uint8Array;
  audio?: AudioData & { words: string };
  /** The text ends before the first of these. */
  stops: readonly string[];
  /** The finish reason, unless a stop sequence or the token limit comes first. */
  finish: 'stop' | 'refusal' | 'tool-calls';
}

export interface AnswerCall {
  id: string;
  custom: boolean;
  name: string;
  input: string;
}

const WHO_I_AM = "This is Modelport's sandbox: no model has read your message, this answer is made from it by rule.";
const REFUSAL = 'The sandbox refuses to answer, as the prompt asked.';
const QUOTED_CHARACTERS = 200;
/** At most this many tool results are quoted. */
const QUOTED_RESULTS = 100;
/** Audio data is large, so speech within a chat is limited. */
const SPOKEN_CHARACTERS = 2000;
/** The reported tokens of an image. */
export const IMAGE_TOKENS = 1290;

/** `key` identifies the call; ids of tool calls are derived from it. */
export function answerChat(call: ChatCall, choice: number, key: string): SandboxAnswer {
  const reasoning = call.model === 'sandbox-reasoner' ? tokensIn(thoughtsOn(call)) : nothing();
  const answer: SandboxAnswer = {
    reasoning,
    text: nothing(),
    refusal: nothing(),
    calls: [],
    stops: [],
    finish: 'stop',
  };
  const prompt = lastPrompt(call);
  const { refuse, words = 0 } = readDirectives(prompt);
  if (refuse) return { ...answer, refusal: tokensIn(REFUSAL), finish: 'refusal' };
  if (call.model === IMAGE_MODEL || call.modalities?.includes('image')) return imageOf(call, answer, choice);
  const calls = callsOf(call, choice, key);
  if (calls.length > 0) return { ...answer, calls, finish: 'tool-calls' };
  if (call.modalities?.includes('audio')) {
    const spoken = chatText(call, choice).slice(0, SPOKEN_CHARACTERS);
    return {
      ...answer,
      audio: { ...speak(spoken, call.audio?.voice ?? '', call.audio?.format ?? 'wav'), words: spoken },
    };
  }
  const text = call.output ? tokensIn(valueFor(schemaOf(call))) : tokensOfAtLeast(chatText(call, choice), words);
  return { ...answer, text, stops: call.sampling.stop ?? [] };
}

export function answerCompletion(call: ChatCall, prompt: string, choice: number): SandboxAnswer {
  const suffix = call.completion?.suffix ?? '';
  const end = suffix === '' ? '' : ` It leads up to: ${quote(suffix)}.`;
  const sentence = ` ${WHO_I_AM} It goes on from: ${quote(prompt)}.${end}${choiceMark(choice)}`;
  return {
    reasoning: nothing(),
    text: tokensOfAtLeast(sentence, readDirectives(prompt).words ?? 0),
    refusal: nothing(),
    calls: [],
    stops: call.sampling.stop ?? [],
    finish: 'stop',
  };
}

const nothing = () => tokensIn('');

function chatText(call: ChatCall, choice: number): string {
  const sentences = [WHO_I_AM];
  const instructions = call.messages.filter(({ role }) => role === 'system');
  if (instructions.length > 0)
    sentences.push(`My instructions: ${quote(instructions.map(({ parts }) => joinedText(parts)).join(' '))}.`);
  const results = toolResults(call)
    .slice(0, QUOTED_RESULTS)
    .map(({ name, text }) => `${name} said ${quote(text)}`);
  const prompt = lastPrompt(call);
  if (results.length > 0) sentences.push(`The tools answered: ${results.join('; ')}.`);
  else if (prompt !== '') sentences.push(`You wrote: ${quote(prompt)}.`);
  const media = mediaNote(call);
  if (media !== '') sentences.push(`With it came ${media}.`);
  const signatures = signaturesHandedBack(call);
  if (signatures > 0) sentences.push(`Of my earlier thoughts ${signatures} came back with their signatures.`);
  const turns = call.messages.filter(({ role, parts }) => role === 'user' && parts.some(isNotResult)).length;
  if (turns > 1) sentences.push(`It is message ${turns} of yours in this conversation.`);
  return sentences.join(' ') + choiceMark(choice);
}

const isNotResult = ({ type }: { type: string }) => type !== 'tool-result';

const THOUGHTS_BY_EFFORT: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 1,
  low: 2,
  medium: 3,
  high: 4,
  xhigh: 5,
  max: 6,
};

/** A higher effort gives longer reasoning. */
function thoughtsOn(call: ChatCall): string {
  const names = call.tools.flatMap((tool) => ('name' in tool ? tool.name : []));
  const tools = names.length === 0 ? 'No tools are offered.' : `The tools offered are ${names.join(', ')}.`;
  const thoughts = [
    'I am a sandbox, so I follow a rule instead of thinking.',
    `The conversation has ${call.messages.length} messages.`,
    `The last one of the user says ${quote(lastPrompt(call))}.`,
    tools,
    call.output ? 'The answer must fit a schema.' : 'The answer may be plain text.',
    'Nothing else is to be weighed.',
  ];
  return thoughts.slice(0, THOUGHTS_BY_EFFORT[effortOf(call)]).join(' ');
}

const EFFORT_BY_BUDGET: readonly (readonly [most: number, effort: Effort])[] = [
  [0, 'none'],
  [1024, 'minimal'],
  [2048, 'low'],
  [8192, 'medium'],
  [16_384, 'high'],
  [32_768, 'xhigh'],
];

function effortOf({ reasoning }: ChatCall): Effort {
  if (reasoning?.effort) return reasoning.effort;
  const budget = reasoning?.budgetTokens;
  if (budget === undefined) return 'medium';
  return EFFORT_BY_BUDGET.find(([most]) => budget <= most)?.[1] ?? 'max';
}

type Callable = Extract<Tool, { type: 'function' | 'custom' }>;

function callsOf(call: ChatCall, choice: number, key: string): AnswerCall[] {
  const offered = call.tools.filter((tool) => tool.type === 'function' || tool.type === 'custom');
  const { allowed, force } = choiceOf(call, offered);
  const [first] = allowed;
  if (!first || (!force && toolResults(call).length > 0)) return [];
  const prompt = mostPlain(lastPrompt(call).slice(0, LOOKED_AT_CHARACTERS));
  const meant = allowed.filter((tool) => isMeant(tool, prompt));
  const called = call.parallelToolCalls === false ? meant.slice(0, 1) : meant;
  return (called.length > 0 ? called : [first]).map((tool, index) => ({
    id: `call_${key}${choice}${index}`,
    custom: tool.type === 'custom',
    name: tool.name,
    input: tool.type === 'custom' ? withoutDirectives(lastPrompt(call)) : valueFor(parametersOf(tool)),
  }));
}

function parametersOf(tool: Extract<Tool, { type: 'function' }>): Json {
  return tool.parameters ?? { type: 'object', properties: {} };
}

/** `force`: one of the allowed tools must be called. */
function choiceOf({ toolChoice }: ChatCall, offered: readonly Callable[]): { allowed: Callable[]; force: boolean } {
  const named = (names: readonly string[]) => offered.filter(({ name }) => names.includes(name));
  switch (toolChoice?.type) {
    case 'none':
      return { allowed: [], force: false };
    case 'required':
      return { allowed: [...offered], force: true };
    case 'allowed':
      return { allowed: named(toolChoice.names), force: toolChoice.mode === 'required' };
    case 'tool': {
      const allowed = named([toolChoice.name]);
      if (allowed.length > 0) return { allowed, force: true };
      const sentence = `\`tool_choice\` names the tool \`${toolChoice.name}\`, which is not among \`tools\`.`;
      throw new GatewayError('invalid_request', sentence, { param: 'tool_choice' });
    }
    case 'auto':
    case 'native':
    case undefined:
      return { allowed: [...offered], force: false };
    default:
      return toolChoice satisfies never;
  }
}

const WORD = /[a-z]{4,}/g;
/** The prefix of the prompt and of a tool's description that is compared. */
const LOOKED_AT_CHARACTERS = 4096;

/** A tool is selected if the user names it, or uses at least half of the words in its description. */
function isMeant({ name, description = '' }: Callable, prompt: string): boolean {
  if (prompt.includes(mostPlain(name))) return true;
  const words = [...new Set(mostPlain(description.slice(0, LOOKED_AT_CHARACTERS)).match(WORD) ?? [])];
  const found = words.filter((word) => prompt.includes(word)).length;
  return found >= 2 && found * 2 >= words.length;
}

function imageOf(call: ChatCall, answer: SandboxAnswer, choice: number): SandboxAnswer {
  const prompt = withoutDirectives(lastPrompt(call));
  const size = imageSize(call.image ?? {});
  const image = () => generateImage(`${prompt}${choiceMark(choice)}`, size);
  const wantsWords = call.modalities?.includes('text') === true;
  const text = wantsWords ? tokensIn(`The sandbox generated a pattern for ${quote(prompt)}.`) : nothing();
  return { ...answer, text, image };
}

function schemaOf({ output }: ChatCall): Json {
  return output?.type === 'json-schema' ? output.schema : { type: 'object', properties: { sandbox: { const: true } } };
}

function valueFor(schema: Json): string {
  const value = fitSchema(schema);
  if (value === undefined)
    throw new GatewayError('invalid_request', 'The sandbox found no value that fits the schema.');
  return JSON.stringify(value);
}

function quote(text: string): string {
  const shown = withoutDirectives(text);
  return `"${shown.length > QUOTED_CHARACTERS ? `${shown.slice(0, QUOTED_CHARACTERS)}…` : shown}"`;
}

function choiceMark(choice: number): string {
  return choice > 0 ? ` (Choice ${choice + 1}.)` : '';
}
