/** What every official library does with every provider: for each scenario, what the user sees and what the provider receives. */
import { expect } from 'bun:test';
import { CLIENTS } from '../clients/formats-client.ts';
import { SIGNATURE } from '../helpers/provider-answers.ts';
import {
  AUDIO,
  assertCalls,
  assertMatched,
  assertResults,
  CALLS,
  finishOf,
  hidesReasoning,
  IMAGE,
  MANY_PARTS,
  PDF,
  partsOf,
  type Scenario,
  SOURCES,
  TIME,
  TRIP,
  textsOf,
  turnView,
  WEATHER,
} from './scenario.ts';

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'text, with a system prompt',
    ask: { system: 'Be brief.', prompt: 'Greet Japan.', maxTokens: 500 },
    outputs: [{ texts: ['Grüße ', 'aus ', '日本 🗾'] }],
    check({ client, provider, view, sent }) {
      expect(view.turns).toMatchObject([
        turnView(client, 'over', { text: 'Grüße aus 日本 🗾', reasoning: '', calls: [] }),
      ]);
      expect(sent[0]).toMatchObject({ system: 'Be brief.', maxTokens: 500, tools: [], stop: [] });
      expect(sent[0]?.turns).toEqual([{ role: 'user', parts: [{ type: 'text', text: 'Greet Japan.' }] }]);
      expect(sent[0]?.choice).toBeUndefined();
      if (provider !== 'messages') expect(sent[0]?.thinks).toBe(false);
    },
  },
  {
    name: 'a tool loop of three turns',
    ask: { tools: [WEATHER, TIME], results: { get_weather: 'sunny', get_time: '12:30' } },
    outputs: [
      { texts: ['First the sky.'], calls: [CALLS.weather] },
      { calls: [CALLS.time] },
      { texts: ['Sun ', 'at noon.'] },
    ],
    check({ client, view, sent }) {
      expect(view.turns).toMatchObject([
        turnView(client, 'calls', { text: 'First the sky.' }),
        turnView(client, 'calls', { text: '' }),
        turnView(client, 'over', { text: 'Sun at noon.', calls: [] }),
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
    outputs: [{ calls: [CALLS.weather, CALLS.time] }, { texts: ['Both.'] }],
    check({ client, view, sent }) {
      expect(view.turns).toMatchObject([turnView(client, 'calls'), turnView(client, 'over', { text: 'Both.' })]);
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
    outputs: [
      { thought: 'The sky first.', calls: [CALLS.weather] },
      { thought: 'Now the clock.', calls: [CALLS.time] },
      { thought: 'Both known.', texts: ['Sun at noon.'] },
    ],
    check({ client, provider, view, sent }) {
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
      for (const each of sent) expect(each.thinks).toBe(true);
      if (provider === 'chat') return;
      // The provider's signatures return to it, each in its turn.
      const signatures = (last?.turns ?? []).map(({ parts }) =>
        parts.flatMap((part) => ('signature' in part ? [part.signature] : [])),
      );
      expect(signatures).toEqual([[], [SIGNATURE], [], [SIGNATURE], []]);
    },
  },
  {
    name: 'calls that the provider gives no ids',
    ask: { tools: [WEATHER, TIME], results: { get_weather: 'sunny', get_time: '12:30' } },
    outputs: [{ calls: [CALLS.weather, CALLS.time].map((call) => ({ ...call, id: '' })) }, { texts: ['Both.'] }],
    providers: ['gemini'],
    check({ format, view, sent }) {
      expect(textsOf(view)).toEqual(['', 'Both.']);
      assertCalls(view.turns[0], CALLS.weather, CALLS.time);
      // Google's own format omits them.
      if (format !== 'gemini') {
        const ids = (view.turns[0]?.calls ?? []).map(({ id }) => id);
        expect(new Set(ids).size).toBe(2);
        for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      }
      assertResults(sent[1], 'sunny', '12:30');
    },
  },
  {
    name: 'sources of a text',
    ask: { prompt: 'Which city?' },
    outputs: [{ texts: ['Oslo 🏔 ', 'is one.'], sources: SOURCES }],
    check({ client, view }) {
      expect(textsOf(view)).toEqual(['Oslo 🏔 is one.']);
      // This library drops them.
      if (client === 'ai-compatible') return;
      expect(new Set(view.turns[0]?.sources)).toEqual(new Set(SOURCES.map(({ url }) => url)));
    },
  },
  {
    name: 'an image, inline',
    ask: { prompt: [{ type: 'text', text: 'What is it?' }, IMAGE] },
    outputs: [{ texts: ['A dot.'] }],
    check({ view, sent }) {
      expect(textsOf(view)).toEqual(['A dot.']);
      expect(sent[0]?.turns[0]?.parts).toMatchObject([{ text: 'What is it?' }, IMAGE]);
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
    outputs: [{ texts: ['Empty.'] }],
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
    outputs: [{ calls: [CALLS.weather] }, { texts: ['Unknown.'] }],
    check({ client, format, provider, view, sent }) {
      expect(textsOf(view)).toEqual(['', 'Unknown.']);
      const [result] = partsOf(sent[1], 'result');
      expect(result?.text).toContain('no such place');
      // Only these two formats can express it, each for the other; the AI SDK sends it to Google as text.
      const sendsFailure = format === 'messages' || client === 'gemini';
      const receivesFailure = provider === 'messages' || provider === 'gemini';
      if (sendsFailure && receivesFailure) expect(result?.failed).toBe(true);
    },
  },
  {
    name: 'results of tools: an image',
    ask: { tools: [WEATHER], results: { get_weather: { text: 'see', image: IMAGE } } },
    outputs: [{ calls: [CALLS.weather] }, { texts: ['Blue.'] }],
    cannot: {
      chat: 'its tool messages are text alone',
      'ai-chat': 'its tool messages are text alone',
      'ai-compatible': 'its tool messages are text alone',
      'ai-messages': 'tools of the suite answer in text',
      'ai-gemini': 'tools of the suite answer in text',
      'ai-responses': 'tools of the suite answer in text',
    },
    check({ provider, view, sent }) {
      expect(textsOf(view)).toEqual(['', 'Blue.']);
      const [result] = partsOf(sent[1], 'result');
      expect(result?.text).toContain('see');
      const { images = 0 } = result ?? {};
      // Chat has no place for it, so a user message follows.
      if (provider === 'chat') expect(partsOf(sent[1], 'image')).toMatchObject([IMAGE]);
      else expect(images + partsOf(sent[1], 'image').length).toBe(1);
    },
  },
  {
    name: 'results of tools: two with images',
    ask: {
      tools: [WEATHER, TIME],
      result: 'unused',
      results: { get_weather: { text: 'sky', image: IMAGE }, get_time: { text: 'clock', image: IMAGE } },
    },
    outputs: [{ calls: [CALLS.weather, CALLS.time] }, { texts: ['Both.'] }],
    cannot: Object.fromEntries(
      CLIENTS.filter((client) => client !== 'messages' && client !== 'responses').map((client) => [
        client,
        'seen already',
      ]),
    ),
    check({ provider, view, sent }) {
      expect(textsOf(view)).toEqual(['', 'Both.']);
      const types = sent[1]?.turns.at(-1)?.parts.flatMap(({ type }) => (type === 'text' ? [] : type));
      // If results can only be text, images follow all of them: each result comes directly after the calls.
      if (provider === 'chat') expect(types).toEqual(['result', 'result', 'image', 'image']);
      expect(types?.slice(0, 2)).toEqual(['result', 'result']);
      assertMatched(sent[1]);
    },
  },
  {
    name: 'an audio file',
    ask: { prompt: [{ type: 'text', text: 'What is spoken?' }, AUDIO] },
    outputs: [{ texts: ['Hello.'] }],
    providers: ['chat', 'gemini'],
    cannot: Object.fromEntries(
      CLIENTS.filter((client) => client !== 'chat' && client !== 'gemini').map((client) => [client, 'has no audio']),
    ),
    check({ view, sent }) {
      expect(textsOf(view)).toEqual(['Hello.']);
      expect(sent[0]?.turns[0]?.parts).toMatchObject([{ text: 'What is spoken?' }, AUDIO]);
    },
  },
  {
    name: 'structured output',
    ask: { schema: WEATHER.schema, prompt: 'Which city?' },
    outputs: [{ texts: ['{"city":', '"Oslo"}'] }],
    check({ view, sent }) {
      expect(JSON.parse(view.turns[0]?.text ?? '')).toEqual({ city: 'Oslo' });
      expect(sent[0]?.schema).toMatchObject({ properties: { city: { type: 'string' } }, required: ['city'] });
    },
  },
  {
    name: 'structured output by a schema of many parts',
    ask: { schema: MANY_PARTS, prompt: 'Which trip?' },
    outputs: [{ texts: [JSON.stringify(TRIP)] }],
    check({ view, sent }) {
      expect(JSON.parse(view.turns[0]?.text ?? '')).toEqual(TRIP);
      const schema = JSON.stringify(sent[0]?.schema);
      for (const word of ['from', 'stops', 'mood', 'calm', 'note', 'kilometres']) expect(schema).toContain(`"${word}"`);
    },
  },
  {
    name: 'a stop sequence',
    ask: { stop: ['###', 'END'] },
    outputs: [{ texts: ['One ', 'two '], ends: { stop: '###' } }],
    cannot: { responses: 'the format has none', 'ai-responses': 'the format has none' },
    check({ client, provider, view, sent }) {
      expect(textsOf(view)).toEqual(['One two ']);
      if (provider !== 'responses') expect(sent[0]?.stop).toEqual(['###', 'END']);
      if (client === 'messages' && provider === 'messages') {
        expect(view.turns[0]).toMatchObject({ finish: 'stop_sequence', stopped: '###' });
      }
      if (client !== 'messages') expect(view.turns[0]?.finish).toBe(finishOf(client, 'over'));
    },
  },
  {
    name: 'out of tokens',
    ask: { maxTokens: 64 },
    outputs: [{ texts: ['Once upon a '], ends: 'length' }],
    check({ client, view, sent }) {
      expect(view.turns).toMatchObject([turnView(client, 'length', { text: 'Once upon a ' })]);
      expect(sent[0]?.maxTokens).toBe(64);
    },
  },
  {
    name: 'held back by the provider',
    ask: {},
    outputs: [{ texts: ['I '], ends: 'filtered' }],
    check({ client, view }) {
      expect(view.turns).toMatchObject([turnView(client, 'filtered')]);
    },
  },
  {
    name: 'usage with its details',
    ask: { think: true },
    outputs: [
      { thought: 'Hm.', texts: ['Yes.'], tokens: { input: 1000, cachedInput: 400, output: 90, reasoning: 30 } },
    ],
    check({ provider, view }) {
      const { cachedInput, reasoning } = view.turns[0]?.usage ?? {};
      expect(cachedInput).toBe(400);
      if (provider !== 'messages') expect(reasoning).toBe(30);
    },
  },
  ...(['auto', 'required', 'none', { name: 'get_time' }] as const).map(
    (choice): Scenario => ({
      name: `tool choice: ${typeof choice === 'string' ? choice : 'by name'}`,
      ask: { choice, tools: [WEATHER, TIME], mostTurns: 1 },
      outputs: [choice === 'auto' || choice === 'none' ? { texts: ['Well.'] } : { calls: [CALLS.time] }],
      check({ client, view, sent }) {
        if (choice === 'auto' || choice === 'none') expect(textsOf(view)).toEqual(['Well.']);
        else assertCalls(view.turns[0], CALLS.time);
        // These two omit their tools instead.
        const leavesAway = choice === 'none' && (client === 'ai-messages' || client === 'ai-gemini');
        if (leavesAway && sent[0]?.choice === undefined) expect(sent[0]?.tools).toEqual([]);
        else expect(sent[0]?.choice ?? 'auto').toEqual(choice);
      },
    }),
  ),
  {
    name: 'one call at a time',
    ask: { oneAtATime: true, tools: [WEATHER, TIME] },
    outputs: [{ texts: ['Well.'] }],
    cannot: {
      gemini: 'the format cannot ask it',
      'ai-gemini': 'the format cannot ask it',
      'ai-compatible': 'has no option',
    },
    check({ provider, sent }) {
      if (provider !== 'gemini') expect(sent[0]?.oneAtATime).toBe(true);
    },
  },
];
