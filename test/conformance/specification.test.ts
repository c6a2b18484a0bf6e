/** One named test for each rule of the public specification: a real request to a running gateway and the expected response. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { messageAnswer } from '../helpers/message-answer.ts';
import { type StageSetup, startScene } from '../helpers/scene.ts';
import { BEHAVIOUR_RULES } from './specification/behaviour.ts';
import {
  BALANCE_RULES,
  BROKEN_RULES,
  CREDENTIAL_RULES,
  ENDPOINT_RULES,
  NAME_RULES,
} from './specification/endpoints.ts';
import { GENERATE_RULES, JIMENG_RULES, VIDEO_RULES } from './specification/media.ts';
import { REPLY_RULES } from './specification/reply-fields.ts';
import { REQUEST_FIELDS, requestRules } from './specification/request-fields.ts';
import type { Endpoint, World } from './specification/world.ts';

const TOKENS = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
const MESSAGE = { type: 'message', id: 'msg_1', status: 'completed', role: 'assistant' };
const CONTENT = [{ type: 'output_text', text: 'Hi', annotations: [] }];

/** A provider of each format with its fixed answer. */
const PROVIDERS: { readonly [endpoint in Endpoint]: StageSetup & { answer: object } } = {
  chat: {
    answer: {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
      usage: TOKENS,
      system_fingerprint: 'fp_1',
    },
  },
  completions: {
    answer: {
      id: 'cmpl-1',
      object: 'text_completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, text: 'Hi', finish_reason: 'stop', logprobs: null }],
      usage: TOKENS,
    },
  },
  messages: {
    type: 'anthropic',
    answer: messageAnswer('Hi', { input_tokens: 1, output_tokens: 1 }),
  },
  responses: {
    type: 'openai',
    answer: {
      id: 'resp_1',
      object: 'response',
      created_at: 1,
      status: 'completed',
      model: 'm',
      output: [{ ...MESSAGE, content: CONTENT }],
      usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
    },
  },
  generate: {
    type: 'google',
    answer: {
      candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP', safetyRatings: [] }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    },
  },
  embeddings: {
    kind: 'embed',
    answer: {
      object: 'list',
      model: 'm',
      data: [{ object: 'embedding', index: 0, embedding: [0.5, 0.25] }],
      usage: { prompt_tokens: 1, total_tokens: 1 },
    },
  },
  rerank: {
    kind: 'rerank',
    type: 'cohere',
    answer: { id: 'r', results: [{ index: 0, relevance_score: 0.5 }], meta: { billed_units: { search_units: 1 } } },
  },
  images: {
    kind: 'image',
    price: { perImage: 0.01 },
    answer: { created: 1, data: [{ b64_json: 'aGk=', revised_prompt: 'A small house' }, { b64_json: 'aGk=' }] },
  },
};

let world: World;
beforeAll(async () => {
  const scene = await startScene({
    environment: { MODELPORT_VIDEO_POLL_MS: '50', MODELPORT_VIDEO_MODEL: 'sandbox-video' },
  });
  const caller = await scene.stage({ amount: '1000.00' });
  const noted: { [endpoint: string]: World['caller'] } = {};
  for (const [endpoint, { answer, ...setup }] of Object.entries(PROVIDERS)) {
    const stage = await scene.stage({ amount: '1000.00', ...setup });
    stage.script({ json: answer, repeat: true });
    noted[endpoint] = stage;
  }
  world = { scene, caller, noted };
});
afterAll(async () => {
  const { gateway } = world.scene;
  for (let tries = 0; tries < 200 && (await gateway.verify()).holds > 0; tries++) await Bun.sleep(50);
  await world.scene.close();
}, 60_000);

const ENDPOINTS = Object.keys(REQUEST_FIELDS) as Endpoint[];
const RULES = {
  'fields of requests': ENDPOINTS.flatMap(requestRules),
  'fields of replies': REPLY_RULES,
  behaviour: BEHAVIOUR_RULES,
  generateContent: GENERATE_RULES,
  videos: VIDEO_RULES,
  'vendor-b': JIMENG_RULES,
  endpoints: ENDPOINT_RULES,
  credentials: CREDENTIAL_RULES,
  'names of models': NAME_RULES,
  'broken bodies': BROKEN_RULES,
  balance: BALANCE_RULES,
};

for (const [part, rules] of Object.entries(RULES))
  describe(part, () => {
    for (const { rule, holds } of rules) test(rule, () => holds(world));
  });

test('every rule has a unique name, and there are at least 300', () => {
  const names = Object.values(RULES).flatMap((rules) => rules.map(({ rule }) => rule));
  expect(new Set(names).size).toBe(names.length);
  expect(names.length).toBeGreaterThanOrEqual(300);
});
