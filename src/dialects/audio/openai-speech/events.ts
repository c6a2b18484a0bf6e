/** The SSE events of streamed speech. */
import type { Usage } from '../../../canonical/usage.ts';

export const deltaEvent = (audio: Uint8Array) => ({
  type: 'speech.audio.delta',
  audio: Buffer.from(audio).toString('base64'),
});

export function doneEvent(usage: Usage | undefined) {
  const { input = 0, output = 0 } = usage ?? {};
  const tokens = { input_tokens: input, output_tokens: output, total_tokens: input + output };
  return { type: 'speech.audio.done', usage: tokens };
}

export const writeEvent = (payload: object) => `data: ${JSON.stringify(payload)}\n\n`;
