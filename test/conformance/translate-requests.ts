/** Writes every recorded chat request for every other format, and reads it as a provider of that format would. */
import type { ChatCall, Message, Part } from '../../src/canonical/call.ts';
import { GatewayError } from '../../src/canonical/errors.ts';
import { legalToolId } from '../../src/dialects/chat/anthropic-messages/tool-names.ts';
import type { Dialect, Written } from '../../src/dialects/dialect.ts';
import { dialectNamed } from '../../src/dialects/index.ts';
import { type RecordedCase, recordedCases, requestBytes } from '../helpers/fixtures.ts';
import { CONVERSING, TARGETS, WIRES } from './translate-replies.ts';

export interface RequestSource {
  recorded: RecordedCase;
  dialect: Dialect<ChatCall>;
  call: ChatCall;
  features: readonly string[];
}

export interface RequestTranslation {
  source: RequestSource;
  target: Dialect<ChatCall>;
  /** The sent body; empty if the call is refused. */
  body: string;
  warnings: readonly string[];
  /** The member that cannot be expressed at all. */
  refused?: string;
  faults: string[];
}

/** The model of each format with most features; older ones are tested with their dialect. */
const MODELS: { readonly [dialect: string]: string } = {
  'anthropic-messages': 'claude-opus-4-5',
  gemini: 'gemini-3.8-flash',
  'openai-responses': 'gpt-6-sol',
};

/** Recorded requests that the gateway accepts. */
export function requestSources(): RequestSource[] {
  return CONVERSING.flatMap((dialect) =>
    recordedCases(WIRES[dialect.name] ?? dialect.name).flatMap((recorded) => {
      const body = requestBytes(recorded);
      const call = body && callOf(dialect, body, pathOf(recorded));
      return call ? [{ recorded, dialect, call, features: asksFor(call) }] : [];
    }),
  );
}

/** `undefined` for a request that is refused. */
function callOf(dialect: Dialect<ChatCall>, body: Uint8Array, path: { [name: string]: string }): ChatCall | undefined {
  const headers = new Headers({ 'anthropic-version': '2023-06-01' });
  try {
    return dialect.readCall({ body, headers, path, query: new URLSearchParams({ alt: 'sse' }) });
  } catch (thrown) {
    if (thrown instanceof GatewayError) return undefined;
    throw thrown;
  }
}

function pathOf({ endpoint, stream }: RecordedCase): { [name: string]: string } {
  const model = /models\/([^:{}]+):/.exec(endpoint)?.[1] ?? 'gemini-3.8-flash';
  return { model, action: stream ? 'streamGenerateContent' : 'generateContent' };
}

export function requestTranslationsOf(source: RequestSource): RequestTranslation[] {
  return TARGETS.filter(({ name }) => name !== source.dialect.name).map((target) => translate(source, target));
}

/** The call as a provider of that format reads it, or `undefined` if refused. */
export function writtenFor(
  call: ChatCall,
  target: Dialect<ChatCall>,
): { read: ChatCall; warnings: readonly string[] } | undefined {
  try {
    const { body, warnings } = target.writeCall(call, MODELS[target.name] ?? 'gpt-4.1', {});
    const action = call.stream ? 'streamGenerateContent' : 'generateContent';
    const read = callOf(target, body, { model: call.model, action });
    return read && { read, warnings };
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    return undefined;
  }
}

function translate(source: RequestSource, target: Dialect<ChatCall>): RequestTranslation {
  const { call } = source;
  const model = MODELS[target.name] ?? 'gpt-4.1';
  let written: Written;
  try {
    written = target.writeCall(call, model, {});
  } catch (thrown) {
    // What only the original provider can fetch or read is refused by name.
    if (!(thrown instanceof GatewayError)) throw thrown;
    const faults = thrown.param === undefined ? [`is refused without a name: ${thrown.message}`] : [];
    return { source, target, body: '', warnings: [], refused: thrown.message, faults };
  }
  const { body, warnings } = written;
  const action = call.stream ? 'streamGenerateContent' : 'generateContent';
  const read = callOf(target, body, { model, action });
  const faults = read ? differences(call, read, warnings, target.name) : ['cannot be read as its own format'];
  return { source, target, body: Buffer.from(body).toString(), warnings, faults };
}

/** An aspect of a request, and the words of the warning that explains a difference. */
interface Aspect {
  of(call: ChatCall, target: string): unknown;
  reported: RegExp;
}

const ASPECTS: { readonly [name: string]: Aspect } = {
  words: {
    of: (call) => wordsOf(call),
    reported: /one prompt|as user text|as text|drop|message of their own|sent after it|was added|an instruction/,
  },
  calls: { of: callsOf, reported: /one prompt|not a JSON object/ },
  media: { of: mediaOf, reported: /dropped|message of their own|sent after it|as text/i },
  tools: { of: toolsOf, reported: /`tools`|[Tt]ools? .*(dropped|allowed|given|sent)|own tools|knows was dropped/ },
  choice: { of: choiceOf, reported: /tool_choice|[Cc]hoice|allowed|`tools` were dropped/ },
  'one call a turn': {
    of: ({ parallelToolCalls, tools }) => tools.length > 0 && parallelToolCalls === false,
    reported: /parallel|`tools`|it runs at another provider|knows was dropped/,
  },
  output: {
    of: ({ output }) => output && (output.type === 'json' ? 'json' : stripped(output.schema)),
    reported: /JSON|output format|schema/,
  },
  reasoning: { of: ({ reasoning }) => thinks(reasoning), reported: /think|reasoning/ },
  // Every provider's default may be omitted.
  temperature: {
    of: ({ sampling }) => (sampling.temperature === 1 ? undefined : sampling.temperature),
    reported: /temperature/,
  },
  'top p': { of: ({ sampling }) => sampling.topP, reported: /top_p/ },
  'top k': { of: ({ sampling }) => sampling.topK, reported: /top_k/ },
  seed: { of: ({ sampling }) => sampling.seed, reported: /seed/ },
  penalties: {
    of: ({ sampling }) => [sampling.presencePenalty || 0, sampling.frequencyPenalty || 0],
    reported: /penalty/,
  },
  stop: { of: ({ sampling }) => sampling.stop, reported: /stop|one prompt/ },
  // For a format with one choice, the gateway sends several requests.
  choices: {
    of: ({ sampling }, target) => (dialectNamed(target)?.singleChoice ? 1 : (sampling.n ?? 1)),
    reported: /`n`/,
  },
  logprobs: {
    of: ({ sampling, completion }) => sampling.logprobs || completion?.logprobs !== undefined,
    reported: /logprobs/,
  },
  ceiling: { of: ({ maxOutputTokens }) => maxOutputTokens, reported: /output limit|max_tokens/ },
  user: { of: ({ user }) => user, reported: /user/ },
  tier: { of: ({ serviceTier }) => (serviceTier === 'auto' ? undefined : serviceTier), reported: /tier/ },
  stream: { of: ({ stream }) => stream, reported: /nothing/ },
};

function differences(original: ChatCall, read: ChatCall, warnings: readonly string[], target: string): string[] {
  const reported = warnings.join('\n');
  return Object.entries(ASPECTS).flatMap(([name, aspect]) => {
    const was = aspect.of(original, target);
    const is = aspect.of(read, target);
    if (Bun.deepEquals(was, is) || aspect.reported.test(reported)) return [];
    // A format that requires a limit gets the model's own.
    if (name === 'ceiling' && was === undefined) return [];
    return [`${name} was ${shown(was)} and is ${shown(is)}`];
  });
}

/** All text in order, independent of its splitting into messages and parts. */
function wordsOf({ messages }: ChatCall): string {
  return messages
    .flatMap(({ parts }) => parts.map(words))
    .join('')
    .replace(/<\/?system>|\s/g, '');
}

/** Reasoning and blocks of another provider are ignored. */
function words(part: Part): string {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text;
    case 'tool-result':
      return part.parts.map(words).join('');
    case 'media': {
      const { source, title, name, context } = part.media;
      return source.type === 'text' ? `${title ?? name ?? ''}${context ?? ''}${source.text}` : '';
    }
    default:
      return '';
  }
}

function callsOf({ messages }: ChatCall, target: string): unknown[] {
  const id = target === 'anthropic-messages' ? legalToolId : (as: string) => as;
  const parts = messages.flatMap((message) => message.parts);
  return parts.flatMap((part) => {
    if (part.type === 'tool-result') return [['result', id(part.callId)]];
    if (part.type !== 'tool-call') return [];
    const input = part.custom ? { input: part.input } : jsonOf(part.input || '{}');
    return [['call', id(part.id), part.name, input ?? { input: part.input }]];
  });
}

function mediaOf({ messages }: ChatCall): string[] {
  const found: string[] = [];
  const look = (parts: readonly Part[]) => {
    for (const part of parts) {
      if (part.type === 'tool-result') look(part.parts);
      if (part.type === 'media' && part.media.source.type !== 'text')
        found.push(`${part.media.kind} ${bytesOf(part.media.source)}`);
    }
  };
  look(messages.flatMap(({ parts }: Message) => parts));
  return found;
}

function bytesOf(source: { type: string; base64?: string; url?: string }): string {
  return Bun.hash(source.base64 ?? source.url ?? '').toString(16);
}

function toolsOf({ tools }: ChatCall): string[] {
  const named = tools.map((tool) => ('name' in tool ? `${tool.name}: ${tool.description ?? ''}` : tool.type));
  return named.toSorted();
}

function choiceOf({ toolChoice, tools }: ChatCall): unknown {
  if (tools.length === 0 || !toolChoice || toolChoice.type === 'auto') return undefined;
  return toolChoice;
}

/** Titles, descriptions and similar members do not constrain. */
function stripped(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(stripped);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { additionalProperties: _, title: __, description: ___, ...rest } = schema as { [member: string]: unknown };
  return Object.fromEntries(Object.entries(rest).map(([member, value]) => [member, stripped(value)]));
}

function thinks(reasoning: ChatCall['reasoning']): string | undefined {
  if (!reasoning) return undefined;
  const { effort, budgetTokens } = reasoning;
  if (effort === 'none' || budgetTokens === 0) return 'off';
  // Without a setting, models decide by themselves.
  return effort !== undefined || budgetTokens !== undefined ? 'on' : undefined;
}

/** The features of a request for the matrix. */
function asksFor(call: ChatCall): string[] {
  const { messages, tools, toolChoice, output, sampling, reasoning } = call;
  const parts = messages.flatMap((message) => message.parts);
  const results = parts.filter((part) => part.type === 'tool-result');
  const media = parts.filter((part) => part.type === 'media').map((part) => part.media.kind);
  const has: { [feature: string]: boolean } = {
    'system prompts in requests': messages.some(({ role }) => role === 'system'),
    'tools in requests': tools.some(({ type }) => type === 'function' || type === 'custom'),
    'server tools in requests': tools.some(({ type }) => type === 'native' || type === 'web-search'),
    'tool choice in requests': toolChoice !== undefined,
    'tool results in requests': results.length > 0,
    'parallel results in requests': results.length > 1,
    'media in results in requests': results.some((result) => result.parts.some(({ type }) => type === 'media')),
    'failed results in requests': results.some(({ failed }) => failed),
    'images in requests': media.includes('image'),
    'documents in requests': media.includes('document'),
    'audio in requests': media.includes('audio'),
    'video in requests': media.includes('video'),
    'structured output in requests': output !== undefined,
    'reasoning in requests': reasoning !== undefined,
    'earlier reasoning in requests': parts.some(({ type }) => type === 'reasoning'),
    'reasoning signatures in requests': parts.some((part) => 'signature' in part && part.signature !== undefined),
    'cache marks in requests': parts.some((part) => 'cache' in part && part.cache !== undefined),
    'stop sequences in requests': (sampling.stop?.length ?? 0) > 0,
    'log probabilities in requests': sampling.logprobs === true,
    'several choices in requests': (sampling.n ?? 1) > 1,
    'any request': true,
  };
  return Object.keys(has).filter((feature) => has[feature]);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'absent';
  return text.length > 300 ? `${text.slice(0, 140)} … ${text.slice(-140)}` : text;
}
