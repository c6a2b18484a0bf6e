/** Audio files of many megabytes through the running gateway: complete for every target, without being held in memory. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { nanoOf, type Stage } from '../helpers/scene.ts';
import { useScene } from '../helpers/scene-hooks.ts';

setDefaultTimeout(60_000);

const scene = useScene();

const MIB = 1024 * 1024;
const AUDIO = Buffer.alloc(12 * MIB);
for (let at = 0; at < AUDIO.length; at += 4) AUDIO.writeUInt32LE(Math.imul(at, 2_654_435_761) >>> 0, at);

const stageOf = (targets = 1) =>
  scene.stage({ kind: 'transcription', price: { perSecond: 0.000001 }, targets, upstreamModel: 'whisper-x' });

async function uploaded({ caller, model }: Stage, audio: Buffer, signal?: AbortSignal): Promise<Response> {
  const form = new FormData();
  form.set('file', new Blob([audio]), 'audio.mp3');
  form.set('model', model);
  return fetch(`${scene.gateway.url}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${caller.key}` },
    body: form,
    ...(signal && { signal }),
  });
}

test('every target gets the complete file, and nothing stays on disk', async () => {
  const stage = await stageOf(2);
  stage.script({ status: 503, json: { error: { message: 'busy' } } });
  stage.scriptTarget(1, { json: { text: 'Hello.', usage: { type: 'duration', seconds: 3 } } });
  const response = await uploaded(stage, AUDIO);
  expect(await response.json()).toMatchObject({ text: 'Hello.' });
  const sent = stage.journal();
  expect(sent).toHaveLength(2);
  for (const { form = '', headers } of sent) {
    expect(Number(headers['content-length'])).toBe(form.length);
    expect(form.includes('whisper-x')).toBe(true);
    // The position of the whole file in the form: a comparison would print megabytes on failure.
    expect(form.includes(AUDIO.toString('latin1'))).toBe(true);
  }
  const call = await stage.settledCall();
  expect(call.attempts).toBe(2);
  expect(nanoOf(call.cost)).toBe(3000n);
  expect(readdirSync(scene.gateway.dataFolder).filter((name) => name.startsWith('modelport_upload_'))).toEqual([]);
});

test('an early refusal of a target, before it has read everything, is used', async () => {
  const stage = await stageOf();
  stage.script({ status: 400, json: { error: { message: 'No such model.', type: 'invalid_request_error' } } });
  const response = await uploaded(stage, AUDIO);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { message: 'No such model.' } });
  expect((await stage.settledCall()).cost).toBe('0');
});

test('a client that disconnects while sending is not charged, and nothing stays held', async () => {
  const stage = await stageOf();
  const left = new AbortController();
  const endless = new ReadableStream({
    async pull(controller) {
      controller.enqueue(AUDIO.subarray(0, MIB));
      await Bun.sleep(20);
    },
  });
  const sending = fetch(`${scene.gateway.url}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stage.caller.key}`, 'content-type': 'multipart/form-data; boundary=b' },
    body: endless,
    signal: left.signal,
  });
  await Bun.sleep(150);
  left.abort();
  await expect(sending).rejects.toThrow();
  expect(await stage.settled()).toEqual([]);
  expect(stage.journal()).toEqual([]);
});

test('a body above the maximum size is refused while it arrives', async () => {
  const stage = await stageOf();
  const form = new FormData();
  form.set('file', new Blob([AUDIO, AUDIO, AUDIO, AUDIO, AUDIO, AUDIO]), 'audio.mp3');
  form.set('model', stage.model);
  const response = await fetch(`${scene.gateway.url}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stage.caller.key}` },
    body: form,
  });
  expect(response.status).toBe(413);
  expect(await stage.settled()).toEqual([]);
});
