/** What every official library does before every vendor: one list, each with what its user sees and what the vendor is asked. */
import { expect } from 'bun:test';
import type { Client, Conversation, ConversationView, FilePart, Format, TurnView } from '../clients/formats-client.ts';
import { type Said, SEAL, type VendorName } from '../vendor-answers.ts';
import type { Sent, SentPart } from '../vendor-requests.ts';

export interface Seen {
  client: Client;
  format: Format;
  vendor: VendorName;
  view: ConversationView;
  /** The requests as the vendor had them, one for each turn. */
  sent: Sent[];
}

export interface Scenario {
  name: string;
  ask: Partial<Conversation>;
  /** The vendor's reply of each turn. */
  says: readonly Said[];
  /** Who cannot ask so, with the reason. */
  cannot?: { readonly [client in Client]?: string };
  /** What our user must see and the vendor must have had; the turns' usage and the charge are looked at for all. */
  check(seen: Seen): void;
}

/** What a client speaks. */
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

function finishOf(client: Client, end: End): string {
  return FINISHES[client.startsWith('ai-') ? 'ai' : FORMAT_OF[client]][end];
}

const place = (description: string, name: string) => ({
  name,
  description,
  schema: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
});
const WEATHER = place('The weather at a place.', 'get_weather');
const TIME = place('The time at a place.', 'get_time');
const CALLS = {
  weather: { id: 'toolu_01A', name: 'get_weather', args: { city: 'Ōsaka' } },
  time: { id: 'toolu_01B', name: 'get_time', args: { city: 'Oslo' } },
};
/** One pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const PDF = 'JVBERi0xLjQKJSVFT0YK';
const PICTURE: FilePart = { type: 'image', mediaType: 'image/png', data: PNG };

const textsOf = (view: ConversationView) => view.turns.map(({ text }) => text);
const said = (client: Client, end: End, more: Partial<TurnView> = {}) => ({ finish: finishOf(client, end), ...more });

function partsOf<Type extends SentPart['type']>(sent: Sent | undefined, type: Type) {
  const parts = (sent?.turns ?? []).flatMap((turn) => turn.parts);
  return parts.filter((part): part is Extract<SentPart, { type: Type }> => part.type === type);
}

/** Every result names the call it answers, whatever ids the vendor's format asks for. */
function assertMatched(sent: Sent | undefined): void {
  const calls = partsOf(sent, 'call').map(({ id }) => id);
  const results = partsOf(sent, 'result').map(({ id }) => id);
  expect(results).toEqual(calls);
  expect(new Set(calls).size).toBe(calls.length);
}

/** The AI SDK wraps them for Google in an object of its own. */
function assertResults(sent: Sent | undefined, ...texts: string[]): void {
  const results = partsOf(sent, 'result');
  expect(results).toHaveLength(texts.length);
  for (const [index, text] of texts.entries()) expect(results[index]?.text).toContain(text);
}

function assertCalls(turn: TurnView | undefined, ...calls: (typeof CALLS.weather)[]): void {
  expect(turn?.calls.map(({ name, args }) => ({ name, args }))).toEqual(
    calls.map(({ name, args }) => ({ name, args })),
  );
}

/** Libraries that show no reasoning; and those that resend none of its proofs. */
const hidesReasoning = (client: Client) => client === 'ai-chat';
const losesProofs = (client: Client) => hidesReasoning(client) || client === 'ai-compatible';

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'text, with a system prompt',
    ask: { system: 'Be brief.', prompt: 'Greet Japan.', maxTokens: 500 },
    says: [{ texts: ['Grüße ', 'aus ', '日本 🗾'] }],
    check({ client, vendor, view, sent }) {
      expect(view.turns).toMatchObject([said(client, 'over', { text: 'Grüße aus 日本 🗾', reasoning: '', calls: [] })]);
      expect(sent[0]).toMatchObject({ system: 'Be brief.', maxTokens: 500, tools: [], stop: [] });
      expect(sent[0]?.turns).toEqual([{ role: 'user', parts: [{ type: 'text', text: 'Greet Japan.' }] }]);
      expect(sent[0]?.choice).toBeUndefined();
      if (vendor !== 'messages') expect(sent[0]?.thinks).toBe(false);
    },
  },
  {
    name: 'a tool loop of three turns',
    ask: { tools: [WEATHER, TIME], results: { get_weather: 'sunny', get_time: '12:30' } },
    says: [
      { texts: ['First the sky.'], calls: [CALLS.weather] },
      { calls: [CALLS.time] },
      { texts: ['Sun ', 'at noon.'] },
    ],
    check({ client, view, sent }) {
      expect(view.turns).toMatchObject([
        said(client, 'calls', { text: 'First the sky.' }),
        said(client, 'calls', { text: '' }),
        said(client, 'over', { text: 'Sun at noon.', calls: [] }),
      ]);
      assertCalls(view.turns[0], CALLS.weather);
      assertCalls(view.turns[1], CALLS.time);
      expect(sent.map(({ tools }) => tools.map(({ name }) => name))).toEqual(
        Array.from({ length: 3 }, () => ['get_weather', 'get_time']),
      );
      expect(sent[0]?.tools[0]?.schema).toMatchObject({ properties: { city: { type: 'string' } }, required: ['city'] });
      const last = sent[2];
      expect(last?.turns.map(({ role, parts }) => [role, ...parts.map(({ type }) => type)])).toEqual([
        ['user', 'text'],
        ['assistant', 'text', 'call'],
        ['user', 'result'],
        ['assistant', 'call'],
        ['user', 'result'],
      ]);
      expect(partsOf(last, 'call')).toMatchObject(
        [CALLS.weather, CALLS.time].map(({ name, args }) => ({ name, args })),
      );
      assertResults(last, 'sunny', '12:30');
      assertMatched(last);
    },
  },
  {
    name: 'parallel tools',
    ask: { tools: [WEATHER, TIME], results: { get_weather: 'sunny', get_time: '12:30' } },
    says: [{ calls: [CALLS.weather, CALLS.time] }, { texts: ['Both.'] }],
    check({ client, view, sent }) {
      expect(view.turns).toMatchObject([said(client, 'calls'), said(client, 'over', { text: 'Both.' })]);
      assertCalls(view.turns[0], CALLS.weather, CALLS.time);
      const [, second] = sent;
      expect(second?.turns.map(({ role, parts }) => [role, ...parts.map(({ type }) => type)])).toEqual([
        ['user', 'text'],
        ['assistant', 'call', 'call'],
        ['user', 'result', 'result'],
      ]);
      assertResults(second, 'sunny', '12:30');
      assertMatched(second);
    },
  },
  {
    name: 'reasoning with tools over several turns',
    ask: { think: true, tools: [WEATHER, TIME], results: { get_weather: 'sunny', get_time: '12:30' } },
    says: [
      { thought: 'The sky first.', calls: [CALLS.weather] },
      { thought: 'Now the clock.', calls: [CALLS.time] },
      { thought: 'Both known.', texts: ['Sun at noon.'] },
    ],
    check({ client, vendor, view, sent }) {
      expect(textsOf(view)).toEqual(['', '', 'Sun at noon.']);
      if (!hidesReasoning(client)) {
        expect(view.turns.map(({ reasoning }) => reasoning)).toEqual([
          'The sky first.',
          'Now the clock.',
          'Both known.',
        ]);
      }
      const last = sent[2];
      assertMatched(last);
      if (losesProofs(client)) return;
      for (const each of sent) expect(each.thinks).toBe(true);
      if (vendor === 'chat') return;
      // The vendor's proofs come back to it, each in its turn.
      const seals = (last?.turns ?? []).map(({ parts }) =>
        parts.flatMap((part) => ('seal' in part ? [part.seal] : [])),
      );
      expect(seals).toEqual([[], [SEAL], [], [SEAL], []]);
    },
  },
  {
    name: 'a picture, inline',
    ask: { prompt: [{ type: 'text', text: 'What is it?' }, PICTURE] },
    says: [{ texts: ['A dot.'] }],
    check({ view, sent }) {
      expect(textsOf(view)).toEqual(['A dot.']);
      expect(sent[0]?.turns[0]?.parts).toMatchObject([{ text: 'What is it?' }, PICTURE]);
    },
  },
  {
    name: 'a document',
    ask: {
      prompt: [
        { type: 'document', mediaType: 'application/pdf', data: PDF, name: 'a.pdf' },
        { type: 'text', text: 'Sum it up.' },
      ],
    },
    says: [{ texts: ['Empty.'] }],
    check({ view, sent }) {
      expect(textsOf(view)).toEqual(['Empty.']);
      expect(sent[0]?.turns[0]?.parts).toMatchObject([
        { type: 'document', mediaType: 'application/pdf', data: PDF },
        { text: 'Sum it up.' },
      ]);
    },
  },
  {
    name: 'results of tools: a failure',
    ask: { tools: [WEATHER], results: { get_weather: { text: 'no such place', failed: true } } },
    says: [{ calls: [CALLS.weather] }, { texts: ['Unknown.'] }],
    check({ client, format, vendor, view, sent }) {
      expect(textsOf(view)).toEqual(['', 'Unknown.']);
      const [result] = partsOf(sent[1], 'result');
      expect(result?.text).toContain('no such place');
      // Only these two formats can say it, and each to the other; the AI SDK says it to Google as a text.
      const isSaid = format === 'messages' || client === 'gemini';
      const isHeard = vendor === 'messages' || vendor === 'gemini';
      if (isSaid && isHeard) expect(result?.failed).toBe(true);
    },
  },
  {
    name: 'results of tools: a picture',
    ask: { tools: [WEATHER], results: { get_weather: { text: 'see', image: PICTURE } } },
    says: [{ calls: [CALLS.weather] }, { texts: ['Blue.'] }],
    cannot: {
      chat: 'its tool messages are text alone',
      'ai-chat': 'its tool messages are text alone',
      'ai-compatible': 'its tool messages are text alone',
      'ai-messages': 'tools of the suite answer in text',
      'ai-gemini': 'tools of the suite answer in text',
      'ai-responses': 'tools of the suite answer in text',
    },
    check({ vendor, view, sent }) {
      expect(textsOf(view)).toEqual(['', 'Blue.']);
      const [result] = partsOf(sent[1], 'result');
      expect(result?.text).toContain('see');
      const { images = 0 } = result ?? {};
      // Chat has no place for it: a message of the user's follows.
      if (vendor === 'chat') expect(partsOf(sent[1], 'image')).toMatchObject([PICTURE]);
      else expect(images + partsOf(sent[1], 'image').length).toBe(1);
    },
  },
  {
    name: 'structured output',
    ask: { schema: WEATHER.schema, prompt: 'Which city?' },
    says: [{ texts: ['{"city":', '"Oslo"}'] }],
    check({ view, sent }) {
      expect(JSON.parse(view.turns[0]?.text ?? '')).toEqual({ city: 'Oslo' });
      expect(sent[0]?.schema).toMatchObject({ properties: { city: { type: 'string' } }, required: ['city'] });
    },
  },
  {
    name: 'a stop sequence',
    ask: { stop: ['###', 'END'] },
    says: [{ texts: ['One ', 'two '], ends: { stop: '###' } }],
    cannot: { responses: 'the format has none', 'ai-responses': 'the format has none' },
    check({ client, vendor, view, sent }) {
      expect(textsOf(view)).toEqual(['One two ']);
      if (vendor !== 'responses') expect(sent[0]?.stop).toEqual(['###', 'END']);
      if (client === 'messages' && vendor === 'messages') {
        expect(view.turns[0]).toMatchObject({ finish: 'stop_sequence', stopped: '###' });
      }
      if (client !== 'messages') expect(view.turns[0]?.finish).toBe(finishOf(client, 'over'));
    },
  },
  {
    name: 'out of tokens',
    ask: { maxTokens: 64 },
    says: [{ texts: ['Once upon a '], ends: 'length' }],
    check({ client, view, sent }) {
      expect(view.turns).toMatchObject([said(client, 'length', { text: 'Once upon a ' })]);
      expect(sent[0]?.maxTokens).toBe(64);
    },
  },
  {
    name: 'held back by the vendor',
    ask: {},
    says: [{ texts: ['I '], ends: 'filtered' }],
    check({ client, view }) {
      expect(view.turns).toMatchObject([said(client, 'filtered')]);
    },
  },
  {
    name: 'usage with its details',
    ask: { think: true },
    says: [{ thought: 'Hm.', texts: ['Yes.'], tokens: { input: 1000, cachedInput: 400, output: 90, reasoning: 30 } }],
    check({ vendor, view }) {
      const { cachedInput, reasoning } = view.turns[0]?.usage ?? {};
      expect(cachedInput).toBe(400);
      if (vendor !== 'messages') expect(reasoning).toBe(30);
    },
  },
  ...(['auto', 'required', 'none', { name: 'get_time' }] as const).map(
    (choice): Scenario => ({
      name: `tool choice: ${typeof choice === 'string' ? choice : 'by name'}`,
      ask: { choice, tools: [WEATHER, TIME], mostTurns: 1 },
      says: [choice === 'auto' || choice === 'none' ? { texts: ['Well.'] } : { calls: [CALLS.time] }],
      check({ client, view, sent }) {
        if (choice === 'auto' || choice === 'none') expect(textsOf(view)).toEqual(['Well.']);
        else assertCalls(view.turns[0], CALLS.time);
        // These two leave their tools away instead.
        const leavesAway = choice === 'none' && (client === 'ai-messages' || client === 'ai-gemini');
        if (leavesAway && sent[0]?.choice === undefined) expect(sent[0]?.tools).toEqual([]);
        else expect(sent[0]?.choice ?? 'auto').toEqual(choice);
      },
    }),
  ),
  {
    name: 'one call at a time',
    ask: { oneAtATime: true, tools: [WEATHER, TIME] },
    says: [{ texts: ['Well.'] }],
    cannot: {
      gemini: 'the format cannot ask it',
      'ai-gemini': 'the format cannot ask it',
      'ai-compatible': 'has no option',
    },
    check({ vendor, sent }) {
      if (vendor !== 'gemini') expect(sent[0]?.oneAtATime).toBe(true);
    },
  },
];
