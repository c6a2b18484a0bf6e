/** The type of a scenario, and parts that scenarios share: tools, images, finish reasons. */
import { expect } from 'bun:test';
import type { Client, Conversation, ConversationView, FilePart, Format, TurnView } from '../clients/formats-client.ts';
import type { ModelOutput } from '../helpers/model-output.ts';
import type { ProviderName } from '../helpers/provider-answers.ts';
import type { Sent, SentPart } from '../helpers/provider-requests.ts';

export interface Seen {
  client: Client;
  format: Format;
  provider: ProviderName;
  view: ConversationView;
  /** The requests to the provider, one per turn. */
  sent: Sent[];
}

export interface Scenario {
  name: string;
  ask: Partial<Conversation>;
  /** The provider's reply for each turn. */
  outputs: readonly ModelOutput[];
  /** The providers for which it runs; all by default. */
  providers?: readonly ProviderName[];
  /** Clients that cannot do this, with the reason. */
  cannot?: { readonly [client in Client]?: string };
  /** Checks what the user sees and what the provider received. Usage and charge of the turns are always checked. */
  check(seen: Seen): void;
}

/** The format of each client. */
export const FORMAT_OF: { readonly [client in Client]: Format } = {
  chat: 'chat',
  messages: 'messages',
  gemini: 'gemini',
  responses: 'responses',
  'ai-chat': 'chat',
  'ai-compatible': 'chat',
  'ai-messages': 'messages',
  'ai-gemini': 'gemini',
  'ai-responses': 'responses',
};

type End = 'over' | 'calls' | 'length' | 'filtered';
const FINISHES: { readonly [client in Format | 'ai']: { readonly [end in End]: string } } = {
  chat: { over: 'stop', calls: 'tool_calls', length: 'length', filtered: 'content_filter' },
  messages: { over: 'end_turn', calls: 'tool_use', length: 'max_tokens', filtered: 'refusal' },
  gemini: { over: 'STOP', calls: 'STOP', length: 'MAX_TOKENS', filtered: 'SAFETY' },
  responses: { over: 'completed', calls: 'completed', length: 'max_output_tokens', filtered: 'content_filter' },
  ai: { over: 'stop', calls: 'tool-calls', length: 'length', filtered: 'content-filter' },
};

export function finishOf(client: Client, end: End): string {
  return FINISHES[client.startsWith('ai-') ? 'ai' : FORMAT_OF[client]][end];
}

export const place = (description: string, name: string) => ({
  name,
  description,
  schema: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
});
export const WEATHER = place('The weather at a place.', 'get_weather');
export const TIME = place('The time at a place.', 'get_time');
export const CALLS = {
  weather: { id: 'toolu_01A', name: 'get_weather', args: { city: 'Ōsaka' } },
  time: { id: 'toolu_01B', name: 'get_time', args: { city: 'Oslo' } },
};
export const SOURCES = [
  { url: 'https://a.example/oslo', title: 'Oslo' },
  { url: 'https://b.example/cities', title: 'Cities' },
];
/** One pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
export const PDF = 'JVBERi0xLjQKJSVFT0YK';
export const AUDIO: FilePart = { type: 'audio', mediaType: 'audio/wav', data: 'UklGRiQAAABXQVZF' };
export const IMAGE: FilePart = { type: 'image', mediaType: 'image/png', data: PNG };

/** Schema features that differ between providers: references, several types, enumerations. */
export const MANY_PARTS = {
  type: 'object',
  properties: {
    from: { $ref: '#/$defs/place' },
    stops: { type: 'array', items: { $ref: '#/$defs/place' } },
    mood: { type: 'string', enum: ['calm', 'tense'] },
    note: { type: ['string', 'null'] },
    length: { anyOf: [{ type: 'number' }, { type: 'string', const: 'unknown' }], description: 'kilometres' },
    unit: { type: 'string', enum: ['kilometres'] },
  },
  required: ['from', 'stops', 'mood', 'note', 'length', 'unit'],
  additionalProperties: false,
  $defs: {
    place: {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    },
  },
};
export const TRIP = {
  from: { city: 'Oslo' },
  stops: [{ city: 'Bergen' }],
  mood: 'calm',
  note: null,
  length: 7,
  unit: 'kilometres',
};

export const textsOf = (view: ConversationView) => view.turns.map(({ text }) => text);
export const turnView = (client: Client, end: End, more: Partial<TurnView> = {}) => ({
  finish: finishOf(client, end),
  ...more,
});

export function partsOf<Type extends SentPart['type']>(sent: Sent | undefined, type: Type) {
  const parts = (sent?.turns ?? []).flatMap((turn) => turn.parts);
  return parts.filter((part): part is Extract<SentPart, { type: Type }> => part.type === type);
}

/** Every result names its call, whatever ids the provider's format requires. */
export function assertMatched(sent: Sent | undefined): void {
  const calls = partsOf(sent, 'call').map(({ id }) => id);
  const results = partsOf(sent, 'result').map(({ id }) => id);
  expect(results).toEqual(calls);
  expect(new Set(calls).size).toBe(calls.length);
}

/** For Google the AI SDK wraps them in an object. */
export function assertResults(sent: Sent | undefined, ...texts: string[]): void {
  const results = partsOf(sent, 'result');
  expect(results).toHaveLength(texts.length);
  for (const [index, text] of texts.entries()) expect(results[index]?.text).toContain(text);
}

export function assertCalls(turn: TurnView | undefined, ...calls: (typeof CALLS.weather)[]): void {
  expect(turn?.calls.map(({ name, args }) => ({ name, args }))).toEqual(
    calls.map(({ name, args }) => ({ name, args })),
  );
}

/** Libraries that do not show reasoning. */
export const hidesReasoning = (client: Client) => client === 'ai-chat';
