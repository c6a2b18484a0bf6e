/** What official libraries must observe, case by case, with the tests that show it: file and words of the title. */

export interface ClientCase {
  /** Stable, because tests and documents refer to it. */
  id: number;
  /** 1: daily use. 2: where gateways often fail. */
  tier: 1 | 2;
  what: string;
  shownBy: readonly (readonly [file: string, words: string])[];
  /** What is not tested here or not built yet. */
  open?: string;
}

const SCENARIOS = 'test/e2e/scenarios.ts';
const CASES = 'test/system/client-cases.test.ts';
const ERRORS = 'test/system/client-errors.test.ts';
const CHAT = 'test/system/openai-cases.test.ts';
const GRID = [
  'test/conformance/grid.test.ts',
  'replies keep their meaning in every format, non-streaming and streaming, also for its official library',
] as const;

const shown = (id: number, tier: 1 | 2, what: string, ...shownBy: ClientCase['shownBy']): ClientCase => ({
  id,
  tier,
  what,
  shownBy,
});

export const CLIENT_CASES: readonly ClientCase[] = [
  shown(
    1,
    1,
    'chat, non-streaming and streaming, with usage',
    [CASES, 'case 1: chat before'],
    ['test/system/openai.test.ts', 'non-streaming, streaming and by the helper'],
  ),
  shown(
    2,
    1,
    'chat, parallel tools, before Anthropic',
    [SCENARIOS, 'parallel tools'],
    [CHAT, 'parallel calls in a loop'],
  ),
  shown(
    3,
    1,
    'chat, parallel tools, before Gemini',
    [SCENARIOS, 'calls that the provider gives no ids'],
    [SCENARIOS, 'parallel tools'],
  ),
  shown(
    4,
    1,
    'messages, streamed tool loop, before chat',
    [CASES, 'case 4: messages before'],
    [SCENARIOS, 'a tool loop of three turns'],
  ),
  shown(
    5,
    1,
    'messages, streamed thinking, before Gemini',
    [CASES, 'case 4: messages before'],
    [SCENARIOS, 'reasoning with tools over several turns'],
  ),
  shown(6, 1, "the Google library's own chat", [CASES, 'case 6: the Google library keeps its chat']),
  shown(7, 1, 'generateContent with functions over turns', [SCENARIOS, 'a tool loop of three turns']),
  shown(
    8,
    1,
    'Responses, non-streaming and streaming',
    [CASES, 'case 8: responses before'],
    [SCENARIOS, 'text, with a system prompt'],
  ),
  shown(9, 1, 'Responses, tool loop with encrypted reasoning, before Anthropic', [
    SCENARIOS,
    'reasoning with tools over several turns',
  ]),
  shown(
    10,
    1,
    'the AI SDK over each format before each provider',
    [SCENARIOS, 'a tool loop of three turns'],
    [SCENARIOS, 'usage with its details'],
  ),
  shown(
    11,
    1,
    'a wrong key',
    [ERRORS, 'an unknown key'],
    ['test/e2e/models.test.ts', 'a wrong key is a 401 on every path'],
  ),
  shown(
    12,
    1,
    'recorded refusals and failures',
    [CASES, 'case 12: recorded refusals and failures'],
    [ERRORS, 'the provider answers'],
    ['test/system/openai-recordings.test.ts', 'errors before a reply'],
  ),
  shown(13, 1, 'a failure that another target makes good', [CHAT, 'another target answers']),
  shown(
    14,
    1,
    'every target is rate limited: RateLimitError, and retry-after is passed on and followed',
    [CHAT, 'every target is rate limited: RateLimitError, and retry-after is passed on and followed'],
    [ERRORS, 'fails(429'],
  ),
  shown(
    15,
    1,
    'model lists',
    [CASES, 'case 15: every library lists the same models'],
    ['test/e2e/models.test.ts', 'contain the same names exactly'],
  ),
  shown(
    16,
    1,
    'keys and versions of the messages format',
    ['test/e2e/messages.test.ts', 'can use x-api-key or a bearer token, which has precedence'],
    [
      'test/e2e/messages.test.ts',
      'without a version gets a 400 that names the header; a missing key is reported first',
    ],
  ),
  shown(
    17,
    1,
    'addresses and keys of generateContent',
    ['test/e2e/gemini.test.ts', "under %s, with slashes and a colon in the model's name in every spelling"],
    ['test/e2e/gemini.test.ts', 'the key can be in each of its places, and a bearer token has precedence'],
  ),
  shown(
    18,
    1,
    'usage is the same, whoever reads it',
    GRID,
    [SCENARIOS, 'usage with its details'],
    ['test/e2e/formats-recordings.test.ts', "pass byte for byte except the model's name, charged by their usage"],
  ),
  shown(19, 1, 'the client leaves in mid-stream', [ERRORS, 'an abort in mid-stream ends the upstream at once']),
  shown(20, 1, 'the upstream dies in mid-stream', [ERRORS, 'an interrupted stream is an error']),
  shown(
    21,
    1,
    'an empty balance',
    [ERRORS, 'an empty balance is not retried'],
    [CHAT, 'an empty balance: one attempt'],
  ),
  shown(
    22,
    1,
    'the same format passes byte for byte',
    ['test/e2e/formats-recordings.test.ts', 'pass byte for byte'],
    ['test/e2e/verbatim.test.ts', 'cut by'],
    [CHAT, 'unknown members reach the provider and come back'],
  ),
  shown(23, 2, 'chat tools of a model that takes them on Responses', [CASES, 'case 23: tools on chat']),
  shown(24, 2, 'efforts in the words of each provider', [CASES, 'case 24: before']),
  shown(
    25,
    2,
    'reasoning signatures, own and foreign',
    [SCENARIOS, 'reasoning with tools over several turns'],
    [CASES, 'no signature goes to another provider'],
  ),
  shown(26, 2, 'clients that return no signatures, before Gemini', [
    CASES,
    'case 26: a client that returns no signatures',
  ]),
  shown(27, 2, 'one conversation over several providers', [CASES, 'case 27: one conversation over three providers']),
  shown(
    28,
    2,
    'structured output',
    [SCENARIOS, 'structured output'],
    [SCENARIOS, 'structured output by a schema of many parts'],
    ['test/system/openai.test.ts', 'structured output by a schema'],
  ),
  shown(
    29,
    2,
    'tool choice',
    [SCENARIOS, 'tool choice:'],
    ['test/conformance/grid.test.ts', 'requests keep their meaning for a provider of every other format'],
  ),
  shown(30, 2, 'one call at a time', [SCENARIOS, 'one call at a time']),
  shown(
    31,
    2,
    'images in',
    [SCENARIOS, 'an image, inline'],
    [
      'test/e2e/addressed-media.test.ts',
      'gets the bytes with their real media type; several are fetched at once, each one time',
    ],
    [ERRORS, 'a body too large'],
  ),
  shown(
    32,
    2,
    'images in the results of tools',
    [SCENARIOS, 'results of tools: an image'],
    [SCENARIOS, 'results of tools: two with images'],
  ),
  shown(
    33,
    2,
    'audio in, speech out',
    [SCENARIOS, 'an audio file'],
    ['test/e2e/image-requests.test.ts', 'speech in chat'],
    ['test/system/speech.test.ts', 'returns a valid WAV or its samples, charged by the character'],
  ),
  shown(34, 2, 'documents in', [SCENARIOS, 'a document'], GRID),
  shown(35, 2, 'answers of web searches', [SCENARIOS, 'sources of a text'], GRID),
  shown(
    36,
    2,
    'out of tokens',
    [SCENARIOS, 'out of tokens'],
    ['test/system/openai.test.ts', 'length: truncated at the token limit, and a parse reports it'],
  ),
  shown(
    37,
    2,
    'refusals and blocks',
    [SCENARIOS, 'held back by the provider'],
    [CASES, 'case 37: a prompt that Google refuses'],
  ),
  shown(38, 2, 'stop sequences', [SCENARIOS, 'a stop sequence']),
  shown(
    39,
    2,
    'two choices',
    [CHAT, 'two choices, non-streaming and streaming: both arrive completely, one charge'],
    [
      'test/e2e/client-gone.test.ts',
      'with several choices generated one by one: finished ones are charged as reported',
    ],
  ),
  shown(
    40,
    2,
    'quirks that break the own library are mended',
    ['test/e2e/formats-recordings.test.ts', 'NORMALIZED'],
    ['test/system/openai-recordings.test.ts', 'repaired'],
    GRID,
  ),
  shown(41, 2, 'embeddings', ['test/system/embeddings.test.ts', 'base64, its default, and float']),
  shown(42, 2, 'rerank', ['test/system/embeddings.test.ts', '%s: sorted, only the best']),
  {
    id: 43,
    tier: 2,
    what: 'images made',
    shownBy: [['test/e2e/image-requests.test.ts', 'an image in chat']],
    open: 'the images endpoints',
  },
  { id: 44, tier: 2, what: 'videos', shownBy: [], open: 'the video endpoints' },
  shown(45, 2, 'text completions', ['test/system/completions.test.ts', 'a prompt becomes a user turn']),
  shown(
    46,
    2,
    'counting tokens',
    ['test/e2e/messages.test.ts', 'tokens are counted for any model'],
    ['test/e2e/gemini.test.ts', 'tokens are counted for any model'],
  ),
  shown(47, 2, 'stored responses', [
    'test/system/stored-responses.test.ts',
    'a chain continues across providers, and signatures of one are not sent to another',
  ]),
  shown(
    48,
    2,
    'silence is bridged',
    [ERRORS, 'silence before the first word and within the answer'],
    [
      CHAT,
      'silence before the first token and within the answer: comments keep the stream open, nothing else in the result',
    ],
  ),
  shown(49, 2, 'errors within a stream', [CASES, 'case 49: an error within a stream']),
  shown(
    50,
    2,
    'tools that take free text, tools in groups',
    [CASES, 'case 50: a tool that takes free text'],
    ['test/system/agents.test.ts', 'Codex, with its own model’s tools in groups'],
  ),
];
