import { expect, test } from 'bun:test';
import { CALL_DEFAULTS } from '../../../../test/helpers/chat-call.ts';
import type { TranscriptionCall } from '../../../canonical/call.ts';
import { uploadOf } from '../../../canonical/upload.ts';
import type { Usage } from '../../../canonical/usage.ts';
import { createReader } from './read-reply.ts';

const CALL: TranscriptionCall = {
  ...{ ...CALL_DEFAULTS, kind: 'transcription', stream: true, translate: false, fields: [] },
  file: { name: 'a.mp3', upload: uploadOf(Buffer.alloc(8)) },
  length: { seconds: 60, mostSeconds: 480 },
};

/** The last report in a stream of these events. */
function usageOf(...events: object[]): Usage | undefined {
  const reader = createReader(CALL, 'text/event-stream', {});
  const frames = events.flatMap((event) => reader.read(Buffer.from(`data: ${JSON.stringify(event)}\n\n`)));
  const usages = frames.flatMap((frame) =>
    frame.events.flatMap((event) => (event.type === 'usage' ? [event.usage] : [])),
  );
  return usages.at(-1);
}

const DELTA = { type: 'transcript.text.delta', delta: 'Hello' };
const DONE = { type: 'transcript.text.done', text: 'Hello', usage: { type: 'duration', seconds: 30 } };

test('a stream reports the length of the audio from its first text on, and the true figures at its end', () => {
  const heard = { input: 600, audioInput: 600, output: 0, seconds: 60, source: 'partial' } as const;
  expect(usageOf(DELTA)).toEqual(heard);
  expect(usageOf(DELTA, DELTA)).toEqual(heard);
  expect(usageOf(DELTA, DONE)).toMatchObject({ seconds: 30, source: 'reported' });
  const tokens = { type: 'tokens', input_tokens: 500, output_tokens: 20, total_tokens: 520 };
  expect(usageOf(DELTA, { ...DONE, usage: tokens })).toMatchObject({ input: 500, output: 20, source: 'reported' });
});
