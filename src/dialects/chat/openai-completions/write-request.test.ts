import { describe, expect, test } from 'bun:test';
import { CALL, callOf, streamCall, text } from '../../../../test/helpers/completion-calls.ts';
import type { ChatCall, Message } from '../../../canonical/call.ts';
import type { Quirks } from '../../shared/quirks.ts';
import { passCall, writeCall } from './write-request.ts';

describe('writing a request', () => {
  test('usage is requested even if the client did not, and only in streams', () => {
    const passed = (call: ChatCall, model: string, quirks: Quirks = {}) =>
      JSON.parse(text(passCall(call, model, quirks).body));
    const stream = { ...CALL, stream: true };
    const stream_options = { include_usage: true };
    expect(passed(streamCall(), 'up')).toEqual({ ...stream, model: 'up', stream_options });
    expect(passed(streamCall({ stream_options }), 'public-name')).toEqual({ ...stream, stream_options });
    expect(passed(callOf(CALL), 'up')).toEqual({ ...CALL, model: 'up' });
    expect(passed(streamCall(), 'public-name', { streamUsage: 'always' })).toEqual(stream);
  });

  test('quirks drop and rename, in an own body and in a translated one', () => {
    const quirks = {
      rejects: ['user'],
      fixed: { n: 1 },
      models: [{ match: '^up', quirks: { renames: { max_tokens: 'max_new_tokens' } } }],
    };
    const call = callOf({ ...CALL, user: 'u', n: 2, max_tokens: 5 });
    for (const made of [passCall(call, 'up', quirks), writeCall(call, 'up', quirks)]) {
      expect(JSON.parse(text(made.body))).toEqual({ model: 'up', prompt: 'Once', max_new_tokens: 5 });
      expect(made.warnings).toHaveLength(2);
    }
  });

  const chat = (messages: Message[], more: Partial<ChatCall> = {}): ChatCall => ({
    ...callOf(CALL),
    messages,
    origin: { dialect: 'openai-chat', body: new Uint8Array() },
    completion: undefined as never,
    ...more,
  });
  const message = (role: Message['role'], words: string): Message => ({ role, parts: [{ type: 'text', text: words }] });

  test('a single user turn is the prompt', () => {
    const { body, warnings } = writeCall(chat([message('user', 'Once')], { maxOutputTokens: 9 }), 'up', {});
    expect(JSON.parse(text(body))).toEqual({ model: 'up', prompt: 'Once', max_tokens: 9 });
    expect(warnings).toEqual([]);
  });

  test('a conversation becomes a transcript, with a warning', () => {
    const messages = [
      message('system', 'Be brief.'),
      message('user', 'Hi'),
      message('assistant', 'Hello'),
      message('user', 'Bye'),
    ];
    const { body, warnings } = writeCall(chat(messages), 'up', {});
    expect(JSON.parse(text(body))).toEqual({
      model: 'up',
      prompt: 'Be brief.\n\nUser: Hi\n\nAssistant: Hello\n\nUser: Bye\n\nAssistant:',
      stop: ['\nUser:'],
    });
    expect(warnings).toHaveLength(1);
  });

  test('what a completion cannot express is reported', () => {
    const image: Message = {
      role: 'user',
      parts: [{ type: 'media', media: { kind: 'image', source: { type: 'url', url: 'https://example.com/a.png' } } }],
    };
    const { warnings } = writeCall(
      chat([image], {
        tools: [{ type: 'function', name: 'f' }],
        output: { type: 'json' },
        reasoning: { effort: 'low' },
        modalities: ['audio'],
      }),
      'up',
      {},
    );
    expect(warnings).toHaveLength(5);
  });
});
