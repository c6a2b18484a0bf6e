import { describe, expect, test } from 'bun:test';
import { CALL, callOf, streamCall, text } from '../../../../test/helpers/completion-calls.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import type { JsonObject } from '../../../canonical/json.ts';
import type { ReplyEvent } from '../../../canonical/reply.ts';
import type { Frame } from '../../dialect.ts';
import { createWriter } from './write-reply.ts';

const join = (pieces: readonly Uint8Array[]) => Buffer.concat(pieces).toString();

describe('writing a reply of another format', () => {
  const frame = (...events: ReplyEvent[]): Frame => ({ bytes: new Uint8Array(), events });
  const start: ReplyEvent = { type: 'reply-start', id: 'chatcmpl-7', model: 'up', createdSeconds: 5 };
  const open = (choice: number, part: number, type: 'text' | 'reasoning'): ReplyEvent => ({
    type: 'part-start',
    choice,
    part,
    opens: { type },
  });
  const delta = (choice: number, part: number, words: string): ReplyEvent => ({
    type: 'part-delta',
    choice,
    part,
    delta: words,
  });
  const ended = (choice: number, reason: 'stop' | 'refusal'): ReplyEvent => ({
    type: 'choice-end',
    choice,
    finish: { reason },
  });
  const usage: ReplyEvent = { type: 'usage', usage: { input: 3, output: 4, reasoning: 2, source: 'reported' } };
  const frames = [
    frame(start, open(0, 0, 'reasoning'), delta(0, 0, 'hm'), open(0, 1, 'text'), delta(0, 1, 'A')),
    frame(delta(0, 1, 'B')),
    frame(open(1, 0, 'text'), delta(1, 0, 'C'), ended(1, 'refusal')),
    frame(ended(0, 'stop'), ended(2, 'stop'), ended(3, 'stop'), usage, { type: 'reply-end' }),
  ];
  const chunks = (written: string): JsonObject[] =>
    written
      .split('\n\n')
      .filter((line) => line.startsWith('data: {'))
      .map((line) => JSON.parse(line.slice(6)));
  const request = { ...CALL, prompt: ['P', 'Q'], n: 2, echo: true };

  test('a stream: text only, prompts echoed once, one finish reason per choice, usage last', () => {
    const writer = createWriter(callOf({ ...request, stream: true, stream_options: { include_usage: true } }));
    const written = join([...frames.map((one) => writer.write(one)), writer.end()]);
    expect(written).toEndWith('data: [DONE]\n\n');
    const found = chunks(written);
    for (const one of found)
      expect(one).toMatchObject({ id: 'cmpl-7', object: 'text_completion', created: 5, model: 'public-name' });
    const choices = found.flatMap((one) => one.choices as JsonObject[]);
    const textOf = (index: number) =>
      choices
        .filter((one) => one.index === index)
        .map((one) => one.text)
        .join('');
    expect([0, 1, 2, 3].map(textOf)).toEqual(['PAB', 'PC', 'Q', 'Q']);
    expect(choices.filter((one) => one.finish_reason !== null).map((one) => [one.index, one.finish_reason])).toEqual([
      [1, 'content_filter'],
      [0, 'stop'],
      [2, 'stop'],
      [3, 'stop'],
    ]);
    expect(found.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 4 } });
    expect(found.slice(0, -1).every((one) => one.usage === null)).toBe(true);
  });

  test('has an id of its own if the provider gave none', () => {
    const nameless = { bytes: new Uint8Array(), events: [{ type: 'reply-start' as const, id: '', model: 'm' }] };
    const ids = [false, true].map((stream) => {
      const writer = createWriter(callOf({ ...request, stream }));
      const written = join([writer.write(nameless), ...frames.slice(1).map((one) => writer.write(one)), writer.end()]);
      return /"id":"([^"]*)"/.exec(written)?.[1] ?? '';
    });
    for (const id of ids) expect(id).toMatch(/^cmpl-[0-9A-Za-z]{24}$/);
    expect(ids[0]).not.toBe(ids[1]);
  });

  test('usage is not written unless requested', () => {
    const writer = createWriter(callOf({ ...request, stream: true }));
    expect(join([...frames.map((one) => writer.write(one)), writer.end()])).not.toContain('usage');
  });

  test('a non-streaming body has the same content', () => {
    const writer = createWriter(callOf(request));
    expect(join(frames.map((one) => writer.write(one)))).toBe('');
    const body = JSON.parse(text(writer.end()));
    expect(body.choices.map((one: JsonObject) => one.text)).toEqual(['PAB', 'PC', 'Q', 'Q']);
    expect(body).toMatchObject({
      id: 'cmpl-7',
      object: 'text_completion',
      model: 'public-name',
      usage: { total_tokens: 7 },
    });
  });

  test('a reply that breaks off reports it and has no terminator', () => {
    const error = new GatewayError('upstream_failed', 'It broke off.');
    const writer = createWriter(streamCall());
    expect(text(writer.fail(error))).toBe(
      'data: {"error":{"message":"It broke off.","type":"api_error","param":"","code":"upstream_failed"}}\n\n',
    );
    expect(text(writer.keepAlive())).toMatch(/^:.*\n\n$/);
  });
});
