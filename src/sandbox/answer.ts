/** What the sandbox answers: made from the request by rule, the same each time. */
import { isObject, type Json, type JsonObject } from '../canonical/json.ts';
import type { AskedTool, ChatAsked, CompletionAsked } from './asked.ts';
import { withoutDirectives } from './directives.ts';
import { fitSchema } from './fit-schema.ts';
import { Refusal } from './refusal.ts';
import { tokensOf } from './tokens.ts';

export interface Answer {
  /** Tokens of each. */
  reasoning: string[];
  text: string[];
  calls: AnswerCall[];
  finish: 'stop' | 'length' | 'tool_calls';
}

export interface AnswerCall {
  id: string;
  custom: boolean;
  name: string;
  input: string[];
}

const WHO_I_AM = "This is Modelport's sandbox: no model has read your message, this answer is made from it by rule.";
const QUOTED_CHARACTERS = 200;

export function answerChat(asked: ChatAsked, choice: number): Answer {
  const reasoning = asked.model === 'sandbox-reasoner' ? tokensOf(thoughtsOn(asked)) : [];
  const calls = callsOf(asked, choice);
  if (calls.length > 0) return bounded({ reasoning, text: [], calls, finish: 'tool_calls' }, asked.maxTokens);
  const text = asked.output ? valueFor(asked.output.schema) : chatText(asked, choice);
  return bounded({ reasoning, text: tokensOf(beforeStop(text, asked.stops)), calls, finish: 'stop' }, asked.maxTokens);
}

export function answerCompletion(asked: CompletionAsked, prompt: string, choice: number): Answer {
  const end = asked.suffix === '' ? '' : ` It leads up to: ${quote(asked.suffix)}.`;
  const text = ` ${WHO_I_AM} It goes on from: ${quote(prompt)}.${end}${choiceMark(choice)}`;
  return bounded(
    { reasoning: [], text: tokensOf(beforeStop(text, asked.stops)), calls: [], finish: 'stop' },
    asked.maxTokens,
  );
}

export function countTokens(answer: Answer): number {
  return answer.calls.reduce((sum, call) => sum + call.input.length, answer.reasoning.length + answer.text.length);
}

/** What the last user turn says, in text. */
export function lastPrompt(asked: ChatAsked): string {
  return textOf(asked.messages[asked.lastUser]?.content);
}

function chatText(asked: ChatAsked, choice: number): string {
  const said = [WHO_I_AM];
  const instructions = asked.messages.filter((message) => message.role === 'system' || message.role === 'developer');
  if (instructions.length > 0)
    said.push(`My instructions: ${quote(instructions.map((one) => textOf(one.content)).join(' '))}.`);
  const results = toolResults(asked);
  const prompt = lastPrompt(asked);
  if (results.length > 0) said.push(`The tools answered: ${results.join('; ')}.`);
  else if (prompt !== '') said.push(`You wrote: ${quote(prompt)}.`);
  const media = mediaOf(asked.messages[asked.lastUser]?.content);
  if (media !== '') said.push(`With it came ${media}.`);
  const turns = asked.messages.filter((message) => message.role === 'user').length;
  if (turns > 1) said.push(`It is message ${turns} of yours in this conversation.`);
  return said.join(' ') + choiceMark(choice);
}

const THOUGHTS_BY_EFFORT: { readonly [effort: string]: number } = {
  none: 0,
  minimal: 1,
  low: 2,
  medium: 3,
  high: 4,
  xhigh: 5,
  max: 6,
};

/** The harder it is to think, the more it says. */
function thoughtsOn(asked: ChatAsked): string {
  const tools =
    asked.tools.length === 0
      ? 'No tools are offered.'
      : `The tools offered are ${asked.tools.map((tool) => tool.name).join(', ')}.`;
  const thoughts = [
    'I am a sandbox, so I follow a rule instead of thinking.',
    `The conversation has ${asked.messages.length} messages.`,
    `The last one of the user says ${quote(lastPrompt(asked))}.`,
    tools,
    asked.output ? 'The answer must fit a schema.' : 'The answer may be plain text.',
    'Nothing else is to be weighed.',
  ];
  return thoughts.slice(0, THOUGHTS_BY_EFFORT[asked.effort] ?? THOUGHTS_BY_EFFORT.medium).join(' ');
}

function callsOf(asked: ChatAsked, choice: number): AnswerCall[] {
  const allowed = asked.tools.filter((tool) => asked.choice.names.includes(tool.name));
  const first = allowed[0];
  if (!first || (!asked.choice.force && toolResults(asked).length > 0)) return [];
  const prompt = plain(lastPrompt(asked));
  const meant = allowed.filter((tool) => isMeant(tool, prompt));
  const called = asked.parallel ? meant : meant.slice(0, 1);
  return (called.length > 0 ? called : [first]).map((tool, index) => ({
    id: `call_${asked.key}${choice}${index}`,
    custom: tool.custom,
    name: tool.name,
    input: tokensOf(tool.custom ? withoutDirectives(lastPrompt(asked)) : valueFor(tool.parameters)),
  }));
}

const WORD = /[a-z]{4,}/g;

/** The user names the tool, or says at least half of what its description says. */
function isMeant(tool: AskedTool, prompt: string): boolean {
  if (prompt.includes(plain(tool.name))) return true;
  const words = [...new Set(plain(tool.description).match(WORD) ?? [])];
  const said = words.filter((word) => prompt.includes(word)).length;
  return said >= 2 && said * 2 >= words.length;
}

/** `getWeather`, `get_weather` and `get-weather` all read "get weather". */
function plain(text: string): string {
  return text
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll(/[_-]+/g, ' ')
    .toLowerCase();
}

function valueFor(schema: Json): string {
  const value = fitSchema(schema);
  if (value === undefined) throw new Refusal(400, 'The sandbox found no value that fits the schema.');
  return JSON.stringify(value);
}

function toolResults(asked: ChatAsked): string[] {
  const names = new Map<string, string>();
  for (const message of asked.messages) {
    const calls = Array.isArray(message.tool_calls) ? message.tool_calls.filter(isObject) : [];
    for (const call of calls) names.set(String(call.id), nameOfCall(call));
  }
  return asked.messages
    .slice(asked.lastUser + 1)
    .filter((message) => message.role === 'tool')
    .map((message) => `${names.get(String(message.tool_call_id)) ?? 'a tool'} said ${quote(textOf(message.content))}`);
}

function nameOfCall(call: JsonObject): string {
  const said = isObject(call.function) ? call.function : call.custom;
  return isObject(said) && typeof said.name === 'string' ? said.name : 'a tool';
}

function textOf(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .filter(isObject)
    .map((part) => (typeof part.text === 'string' ? part.text : ''))
    .filter((text) => text !== '')
    .join('\n');
}

const MEDIA_WORDS: { readonly [type: string]: string } = {
  image_url: 'image',
  input_audio: 'recording',
  file: 'file',
  video_url: 'video',
};

function mediaOf(content: Json | undefined): string {
  const counts = new Map<string, number>();
  for (const part of Array.isArray(content) ? content.filter(isObject) : []) {
    const word = MEDIA_WORDS[String(part.type)];
    if (word) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return [...counts].map(([word, count]) => `${count} ${word}${count > 1 ? 's' : ''}`).join(' and ');
}

function quote(text: string): string {
  const shown = withoutDirectives(text);
  return `"${shown.length > QUOTED_CHARACTERS ? `${shown.slice(0, QUOTED_CHARACTERS)}…` : shown}"`;
}

function choiceMark(choice: number): string {
  return choice > 0 ? ` (Choice ${choice + 1}.)` : '';
}

function beforeStop(text: string, stops: readonly string[]): string {
  const ends = stops.map((stop) => text.indexOf(stop)).filter((at) => at >= 0);
  return ends.length > 0 ? text.slice(0, Math.min(...ends)) : text;
}

/** The ceiling holds over all that is said: first over the thoughts, then over the text or the calls' input. */
function bounded(answer: Answer, maxTokens: number): Answer {
  if (countTokens(answer) <= maxTokens) return answer;
  let left = maxTokens;
  const take = (tokens: string[]) => {
    const taken = tokens.slice(0, left);
    left -= taken.length;
    return taken;
  };
  const reasoning = take(answer.reasoning);
  const text = take(answer.text);
  const calls: AnswerCall[] = [];
  for (const call of answer.calls) if (left > 0) calls.push({ ...call, input: take(call.input) });
  return { reasoning, text, calls, finish: 'length' };
}
