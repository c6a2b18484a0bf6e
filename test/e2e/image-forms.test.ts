/** Input images sent as a form: as the files they arrived as, with boundaries that clients cannot guess. */
import { expect, test } from 'bun:test';
import { type FormPart, formBoundary, readForm } from '../../src/dialects/wire/multipart.ts';
import { formBytes } from '../helpers/form-bytes.ts';
import type { Stage } from '../helpers/scene.ts';
import { useScene } from '../helpers/scene-hooks.ts';
import type { JournalEntry } from '../upstream/scripted-upstream.ts';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const GENERATED = { json: { created: 1, data: [{ b64_json: PNG }] } };
const address = 'https://images.invalid/mask.png';

const scene = useScene();

const drawing = (type: string, upstreamModel: string) =>
  scene.stage({ kind: 'image', price: { perImage: 0.002 }, type, upstreamModel });

async function changed(stage: Stage, body: FormData | string | Uint8Array<ArrayBuffer>, type?: string): Promise<void> {
  const headers = { authorization: `Bearer ${stage.caller.key}`, ...(type !== undefined && { 'content-type': type }) };
  const response = await fetch(`${scene.gateway.url}/v1/images/edits`, { method: 'POST', headers, body });
  expect(response.status).toBe(200);
}

function partsSent(entry: JournalEntry | undefined): FormPart[] {
  const boundary = formBoundary(entry?.headers['content-type'] ?? null);
  return readForm(Buffer.from(entry?.form ?? '', 'latin1'), boundary ?? 'none');
}

test('OpenAI gets uploads as files, and JSON input as JSON', async () => {
  const stage = await drawing('openai', 'gpt-image-1.5');
  stage.script(GENERATED, GENERATED, GENERATED);
  const form = new FormData();
  form.set('model', stage.model);
  form.set('prompt', 'Bluer');
  form.set('image', new Blob([Buffer.from(PNG, 'base64')]), 'a.png');
  await changed(stage, form);
  form.set('mask', address);
  await changed(stage, form);
  const image = `data:image/png;base64,${PNG}`;
  await changed(stage, JSON.stringify({ prompt: 'Bluer', model: stage.model, image }), 'application/json');
  const [asForm, mixed, asJson] = stage.journal();
  const types = partsSent(asForm).map(({ name, contentType }) => [name, contentType]);
  expect(types).toEqual([
    ['model', undefined],
    ['prompt', undefined],
    ['image', 'image/png'],
  ]);
  expect(mixed?.body).toMatchObject({ images: [{ image_url: image }], mask: { image_url: address } });
  expect(asJson?.body).toMatchObject({ images: [{ image_url: image }] });
});

test.each([
  ['openai-compatible', 'image-x'],
  ['stability', 'sd3.5-large'],
])('%s: bytes of a file cannot inject a field', async (type, upstreamModel) => {
  const stage = await drawing(type, upstreamModel);
  const generated = type === 'stability' ? { json: { image: PNG, finish_reason: 'SUCCESS' } } : GENERATED;
  stage.script({ ...generated, repeat: true });
  const bytes = Buffer.from(PNG, 'base64');
  const image = `data:image/png;base64,${PNG}`;
  await changed(stage, JSON.stringify({ prompt: 'Bluer', model: stage.model, image }), 'application/json');
  const known = formBoundary(stage.journal()[0]?.headers['content-type'] ?? null) ?? '';
  expect(known.length).toBeGreaterThan(20);
  const field = (boundary: string) => `\r\n--${boundary}\r\ncontent-disposition: form-data; name="model"\r\n\r\ndearer`;
  const sly = Buffer.concat([bytes, Buffer.from(field(known) + field('own'))]);
  const asUrl = `data:image/png;base64,${sly.toString('base64')}`;
  const fields = [
    { name: 'model', bytes: Buffer.from(stage.model) },
    { name: 'prompt', bytes: Buffer.from('Bluer') },
  ];
  const lone = Buffer.from(field('own').replaceAll('\r\n', '\n'));
  for (const last of [
    { name: 'image', bytes: Buffer.from(asUrl) },
    { name: 'image', filename: 'a.png', contentType: 'image/png', bytes: Buffer.concat([bytes, lone]) },
  ]) {
    await changed(stage, formBytes([...fields, last], 'own'), 'multipart/form-data; boundary=own');
  }
  const typed = `data:image/png\r\nx-sly: 1;base64,${PNG}`;
  for (const one of [asUrl, typed])
    await changed(stage, JSON.stringify({ prompt: 'Bluer', model: stage.model, image: one }), 'application/json');
  const sent = stage.journal();
  expect(sent).toHaveLength(5);
  for (const entry of sent) {
    const models = partsSent(entry).filter(({ name }) => name === 'model');
    expect(models.map(({ bytes }) => Buffer.from(bytes).toString())).toEqual([upstreamModel]);
    expect(entry.form).not.toContain('\r\nx-sly');
  }
  const boundaries = sent.map(({ headers }) => formBoundary(headers['content-type'] ?? null));
  expect(new Set(boundaries).size).toBe(sent.length);
  expect(boundaries).not.toContain('own');
});
