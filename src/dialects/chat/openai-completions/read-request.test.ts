import { describe, expect, test } from 'bun:test';
import { CALL, callOf, text } from '../../../../test/helpers/completion-calls.ts';
import { WRONG_SAMPLING } from '../../../../test/helpers/wrong-sampling.ts';
import { writeCall } from './write-request.ts';

describe('reading a request', () => {
  test('every member is read', () => {
    const members = {
      prompt: ['a', 'b'],
      best_of: 3,
      echo: true,
      frequency_penalty: -1,
      logit_bias: { 50256: -100 },
      logprobs: 2,
      max_tokens: 0,
      n: 2,
      presence_penalty: 1,
      seed: 7,
      stream: true,
      stream_options: { include_usage: true },
      suffix: 'end',
      temperature: 0.5,
      top_p: 1,
      user: 'u',
      min_p: 0.1,
    };
    const call = callOf({ ...members, model: 'm', stop: 'x' });
    expect(call).toMatchObject({
      kind: 'chat',
      model: 'm',
      stream: true,
      wantsUsage: true,
      maxOutputTokens: 0,
      user: 'u',
      messages: [{ role: 'user', parts: [{ type: 'text', text: 'a' }] }],
      sampling: {
        temperature: 0.5,
        topP: 1,
        presencePenalty: 1,
        frequencyPenalty: -1,
        seed: 7,
        stop: ['x'],
        n: 2,
        logitBias: { 50256: -100 },
      },
      completion: { prompts: ['a', 'b'], suffix: 'end', echo: true, bestOf: 3, logprobs: 2 },
      extras: { 'openai-completions': { min_p: 0.1 } },
    });
    expect(JSON.parse(text(writeCall(call, 'up', {}).body))).toEqual({ ...members, model: 'up', stop: ['x'] });
  });

  test('members that are null count as absent', () => {
    const call = callOf({
      ...CALL,
      n: null,
      stop: null,
      suffix: null,
      max_tokens: null,
      logprobs: null,
      stream: null,
      stream_options: null,
    });
    expect(call.sampling).toEqual({});
    expect(call.completion).toEqual({ prompts: ['Once'], echo: false });
    expect(call).not.toHaveProperty('maxOutputTokens');
  });

  test('token ids are not a message', () => {
    expect(callOf({ ...CALL, prompt: [1, 2] })).toMatchObject({ messages: [], completion: { prompts: [[1, 2]] } });
    expect(callOf({ ...CALL, prompt: [[1], [2]] })).toMatchObject({ completion: { prompts: [[1], [2]] } });
  });

  test.each([
    ['prompt', { prompt: undefined }],
    ['prompt', { prompt: [] }],
    ['prompt', { prompt: ['a', 1] }],
    ['prompt', { prompt: [[]] }],
    ['prompt', { prompt: [-1] }],
    ['prompt', { prompt: {} }],
    ['model', { model: undefined }],
    ['model', { model: '' }],
    ...WRONG_SAMPLING,
    ['max_tokens', { max_tokens: -1 }],
    ['best_of', { n: 3, best_of: 2 }],
    ['logprobs', { logprobs: true }],
    ['echo', { echo: 'yes' }],
    ['stop', { stop: ['a', 2] }],
    ['stop', { stop: 3 }],
    ['stream', { stream: 'yes' }],
    ['stream_options', { stream_options: [] }],
    ['suffix', { suffix: 1 }],
    ['seed', { seed: 0.5 }],
    ['logit_bias', { logit_bias: { a: 'b' } }],
    ['user', { user: 1 }],
  ])('a wrong %s is named: %j', (param, members) => {
    expect(() => callOf({ ...CALL, ...members })).toThrow(
      expect.objectContaining({ code: 'invalid_request', param, status: 400 }),
    );
  });

  test.each(['', '{', '[]', '"x"'])('a body that is not a JSON object is refused: %p', (body) => {
    expect(() => callOf(body)).toThrow(expect.objectContaining({ code: 'invalid_request', status: 400 }));
  });
});
