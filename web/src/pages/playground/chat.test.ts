import { expect, test } from 'bun:test';
import { OfflineError } from '../../api/client.ts';
import { applyDelta, requestOf, type Turn, waitingTools } from './chat.ts';
import { codeFor, pythonValue } from './code.ts';
import { EventLines, readDelta } from './stream.ts';
import { readAnswer } from './use-chat.ts';

const OPTIONS = { model: 'm', system: '', reasoning: '', maxTokens: '4,096', tools: '' };

test('events that arrive in pieces are read once they are complete', () => {
  const lines = new EventLines();
  expect(lines.push('data: {"choi')).toEqual([]);
  expect(lines.push('ces":[]}\r\n\r\n: comment\ndata: [DO')).toEqual(['{"choices":[]}']);
  expect(lines.push('NE]\n')).toEqual(['[DONE]']);
  expect(readDelta('[DONE]')).toBeUndefined();
});

test('text, reasoning and the pieces of a tool call are joined', () => {
  let turn: Turn = { role: 'assistant', text: '' };
  for (const delta of [
    { reasoning_content: 'Hm' },
    { content: 'Y' },
    { content: 'es' },
    { tool_calls: [{ index: 0, id: 'c1', function: { name: 'weather', arguments: '{"a"' } }] },
    { tool_calls: [{ index: 0, function: { arguments: ':1}' } }] },
  ]) {
    const read = readDelta(JSON.stringify({ choices: [{ delta }] }));
    if (read) turn = applyDelta(turn, read);
  }
  expect(turn).toEqual({
    role: 'assistant',
    text: 'Yes',
    reasoning: 'Hm',
    toolCalls: [{ id: 'c1', name: 'weather', arguments: '{"a":1}' }],
  });
  expect(waitingTools([turn])).toHaveLength(1);
});

test('the request has the answered tools and leaves out a turn that failed', () => {
  const turns: Turn[] = [
    { role: 'user', text: 'Hi' },
    { role: 'assistant', text: '', error: 'failed' },
    { role: 'assistant', text: '', toolCalls: [{ id: 'c1', name: 'f', arguments: '{}', result: '7' }] },
  ];
  expect(requestOf(turns, OPTIONS)).toEqual({
    model: 'm',
    stream: true,
    max_completion_tokens: 4096,
    messages: [
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: '7' },
    ],
  });
});

test('half of an answer is not taken for a whole one', async () => {
  const read: string[] = [];
  const whole = 'data: {"choices":[]}\n\ndata: [DONE]\n\n';
  await readAnswer(new Response(whole), (data) => read.push(data));
  expect(read).toEqual(['{"choices":[]}', '[DONE]']);
  const cut = readAnswer(new Response(whole.slice(0, 25)), () => {});
  expect(await cut.catch((error: unknown) => error)).toBeInstanceOf(OfflineError);
});

test('an error inside of a stream becomes the error of the turn', () => {
  const delta = readDelta('{"error":{"message":"The provider failed."}}');
  expect(delta && applyDelta({ role: 'assistant', text: 'a' }, delta)).toMatchObject({
    text: 'a',
    error: 'The provider failed.',
  });
});

test('code for the shell and for Python keeps quotes and values as they are', () => {
  const sent = {
    path: '/v1/chat/completions',
    body: { model: 'm', stream: true, messages: [{ content: "it's true" }] },
  };
  expect(codeFor('curl', sent, 'http://a')).toContain("it'\\''s true");
  expect(codeFor('Python', sent, 'http://a')).toContain('stream=True,');
  expect(pythonValue({ a: [null, false, 'true'] })).toBe('{"a": [None, False, "true"]}');
});

test('code for a transcription sends a file, and speech is written to one', () => {
  const sent = { path: '/v1/audio/transcriptions', body: { model: 'm' } };
  expect(codeFor('curl', sent, 'http://a')).toContain("-F file=@speech.mp3 \\\n  -F 'model=m'");
  for (const language of ['curl', 'TypeScript', 'Python'] as const)
    expect(codeFor(language, sent, 'http://a')).not.toContain('application/json');
  expect(codeFor('Python', sent, 'http://a')).toContain('file=open("speech.mp3", "rb")');
  const speech = { path: '/v1/audio/speech', body: { model: 'm', input: 'Hi', voice: 'alloy' } };
  expect(codeFor('curl', speech, 'http://a')).toContain('--output speech.mp3');
});
