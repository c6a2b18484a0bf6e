/** What the sandbox answers: made from the call by rule, the same each time. */
import type { ChatCall, Effort, Tool } from '../canonical/call.ts';
import { GatewayError } from '../canonical/errors.ts';
import type { Json } from '../canonical/json.ts';
import type { Finish } from '../canonical/reply.ts';
import { lastPrompt, mediaNote, mostPlain, sealsHandedBack, textOf, toolResults } from './conversation.ts';
import { readDirectives, withoutDirectives } from './directives.ts';
import { fitSchema } from './fit-schema.ts';
import { DRAWING_MODEL, drawPicture, pictureSize } from './picture.ts';
import { type Sound, speak } from './sound.ts';
import { tokensOf } from './tokens.ts';

export interface Answer {
  /** Tokens of each. */
  reasoning: string[];
  text: string[];
  refusal: string[];
  calls: AnswerCall[];
  /** PNG. */
  picture?: Uint8Array;
  sound?: Sound & { words: string };
  finish: Finish;
}

export interface AnswerCall {
  id: string;
  custom: boolean;
  name: string;
  input: string[];
}

const WHO_I_AM = "This is Modelport's sandbox: no model has read your message, this answer is made from it by rule.";
const REFUSAL = 'The sandbox refuses to answer, as the prompt told it to.';
const QUOTED_CHARACTERS = 200;
/** What the tokens of a picture are said to be. */
export const PICTURE_TOKENS = 1290;

/** `key` names the call, and its tool calls after it. */
export function answerChat(call: ChatCall, choice: number, key: string): Answer {
  const reasoning = call.model === 'sandbox-reasoner' ? tokensOf(thoughtsOn(call)) : [];
  const answer: Answer = { reasoning, text: [], refusal: [], calls: [], finish: { reason: 'stop' } };
  const prompt = lastPrompt(call);
  if (readDirectives(prompt).refuse)
    return bounded({ ...answer, refusal: tokensOf(REFUSAL), finish: { reason: 'refusal' } }, call);
  if (call.model === DRAWING_MODEL || call.modalities?.includes('image')) return pictureOf(call, answer, choice);
  const calls = callsOf(call, choice, key);
  if (calls.length > 0) return bounded({ ...answer, calls, finish: { reason: 'tool-calls' } }, call);
  if (call.modalities?.includes('audio')) {
    const words = chatText(call, choice);
    return { ...answer, sound: { ...speak(words, call.audio?.voice ?? '', call.audio?.format ?? 'wav'), words } };
  }
  const said = call.output ? valueFor(schemaOf(call)) : longer(chatText(call, choice), prompt);
  const { text, stop } = beforeStop(said, call.sampling.stop ?? []);
  const finish: Finish = stop === undefined ? { reason: 'stop' } : { reason: 'stop-sequence', stopSequence: stop };
  return bounded({ ...answer, text: tokensOf(text), finish }, call);
}

export function answerCompletion(call: ChatCall, prompt: string, choice: number): Answer {
  const suffix = call.completion?.suffix ?? '';
  const end = suffix === '' ? '' : ` It leads up to: ${quote(suffix)}.`;
  const said = longer(` ${WHO_I_AM} It goes on from: ${quote(prompt)}.${end}${choiceMark(choice)}`, prompt);
  const { text } = beforeStop(said, call.sampling.stop ?? []);
  return bounded({ reasoning: [], text: tokensOf(text), refusal: [], calls: [], finish: { reason: 'stop' } }, call);
}

export function countTokens({ reasoning, text, refusal, calls, picture, sound }: Answer): number {
  const spoken = reasoning.length + text.length + refusal.length + (sound?.tokens ?? 0);
  return calls.reduce((sum, call) => sum + call.input.length, spoken + (picture ? PICTURE_TOKENS : 0));
}

function chatText(call: ChatCall, choice: number): string {
  const said = [WHO_I_AM];
  const instructions = call.messages.filter(({ role }) => role === 'system');
  if (instructions.length > 0)
    said.push(`My instructions: ${quote(instructions.map(({ parts }) => textOf(parts)).join(' '))}.`);
  const results = toolResults(call).map(({ name, text }) => `${name} said ${quote(text)}`);
  const prompt = lastPrompt(call);
  if (results.length > 0) said.push(`The tools answered: ${results.join('; ')}.`);
  else if (prompt !== '') said.push(`You wrote: ${quote(prompt)}.`);
  const media = mediaNote(call);
  if (media !== '') said.push(`With it came ${media}.`);
  const seals = sealsHandedBack(call);
  if (seals > 0) said.push(`Of my earlier thoughts ${seals} came back with their seals.`);
  const turns = call.messages.filter(({ role, parts }) => role === 'user' && parts.some(isSaid)).length;
  if (turns > 1) said.push(`It is message ${turns} of yours in this conversation.`);
  return said.join(' ') + choiceMark(choice);
}

const isSaid = ({ type }: { type: string }) => type !== 'tool-result';

const THOUGHTS_BY_EFFORT: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 1,
  low: 2,
  medium: 3,
  high: 4,
  xhigh: 5,
  max: 6,
};

/** The harder it is to think, the more it says. */
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
  const prompt = mostPlain(lastPrompt(call));
  const meant = allowed.filter((tool) => isMeant(tool, prompt));
  const called = call.parallelToolCalls === false ? meant.slice(0, 1) : meant;
  return (called.length > 0 ? called : [first]).map((tool, index) => ({
    id: `call_${key}${choice}${index}`,
    custom: tool.type === 'custom',
    name: tool.name,
    input: tokensOf(tool.type === 'custom' ? withoutDirectives(lastPrompt(call)) : valueFor(parametersOf(tool))),
  }));
}

function parametersOf(tool: Extract<Tool, { type: 'function' }>): Json {
  return tool.parameters ?? { type: 'object', properties: {} };
}

/** `force`: one of those allowed must be called. */
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
    case 'vendor':
    case undefined:
      return { allowed: [...offered], force: false };
    default:
      return toolChoice satisfies never;
  }
}

const WORD = /[a-z]{4,}/g;

/** The user names the tool, or says at least half of what its description says. */
function isMeant({ name, description = '' }: Callable, prompt: string): boolean {
  if (prompt.includes(mostPlain(name))) return true;
  const words = [...new Set(mostPlain(description).match(WORD) ?? [])];
  const said = words.filter((word) => prompt.includes(word)).length;
  return said >= 2 && said * 2 >= words.length;
}

function pictureOf(call: ChatCall, answer: Answer, choice: number): Answer {
  const prompt = withoutDirectives(lastPrompt(call));
  const picture = drawPicture(`${prompt}${choiceMark(choice)}`, pictureSize(call.image ?? {}));
  const wantsWords = call.modalities?.includes('text') === true;
  return { ...answer, text: wantsWords ? tokensOf(`The sandbox drew a pattern for ${quote(prompt)}.`) : [], picture };
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

/** The text, gone on with until it has the words the prompt asks for. */
function longer(text: string, prompt: string): string {
  const { words = 0 } = readDirectives(prompt);
  const have = text.split(/\s+/).length;
  return text + Array.from({ length: Math.max(0, words - have) }, (_, index) => ` word ${have + index + 1}`).join('');
}

/** The text up to the first of these, and which one that is. */
function beforeStop(text: string, stops: readonly string[]): { text: string; stop?: string } {
  let end = text.length;
  let met: string | undefined;
  for (const stop of stops) {
    const at = stop === '' ? -1 : text.indexOf(stop);
    if (at < 0 || at >= end) continue;
    end = at;
    met = stop;
  }
  return met === undefined ? { text } : { text: text.slice(0, end), stop: met };
}

/** The ceiling holds over all that is said: first over the thoughts, then over the text or the calls' input. */
function bounded(answer: Answer, { maxOutputTokens = Number.POSITIVE_INFINITY }: ChatCall): Answer {
  if (countTokens(answer) <= maxOutputTokens) return answer;
  let left = maxOutputTokens;
  const take = (tokens: string[]) => {
    const taken = tokens.slice(0, left);
    left -= taken.length;
    return taken;
  };
  const reasoning = take(answer.reasoning);
  const text = take(answer.text);
  const refusal = take(answer.refusal);
  const calls: AnswerCall[] = [];
  for (const call of answer.calls) if (left > 0) calls.push({ ...call, input: take(call.input) });
  return { ...answer, reasoning, text, refusal, calls, finish: { reason: 'length' } };
}
