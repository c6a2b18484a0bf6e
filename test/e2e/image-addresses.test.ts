/** Images requested as URLs: stored for a time if the public URL is known, otherwise data URLs. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { nanoCost, type Stage, startScene } from '../helpers/scene.ts';
import { useScene } from '../helpers/scene-hooks.ts';

// biome-ignore lint/suspicious/noExplicitAny: replies are looked into as a client would
type Body = any;

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const BYTES = Buffer.from(PNG, 'base64');
const PER_IMAGE = 2_000_000n;
const PUBLIC = 'https://models.test';

setDefaultTimeout(60_000);

const scene = useScene({ environment: { MODELPORT_PUBLIC_URL: `${PUBLIC}/` } });

const drawing = (type: string, upstreamModel: string) =>
  scene.stage({ kind: 'image', price: { perImage: 0.002 }, type, upstreamModel });

async function generate(stage: Stage, more: object = {}) {
  const request = { model: stage.model, prompt: 'A cat', response_format: 'url', ...more };
  const response = await stage.post('/v1/images/generations', request);
  return { status: response.status, headers: response.headers, body: (await response.json()) as Body };
}

/** Knowing the URL is enough. */
function open(address: string, headers: { [name: string]: string } = {}): Promise<Response> {
  expect(address).toStartWith(`${PUBLIC}/files/image_`);
  return fetch(address.replace(PUBLIC, scene.gateway.url), { headers });
}

test('bytes from a provider of the same format become URLs that anybody can read, in whole and in part', async () => {
  const stage = await drawing('openai', 'gpt-image-1.5');
  stage.script({ json: { created: 5, data: [{ b64_json: PNG, revised_prompt: 'One' }, { b64_json: PNG }] } });
  const { status, headers, body } = await generate(stage, { n: 2 });
  expect([status, headers.get('x-modelport-warnings')]).toEqual([200, null]);
  expect(stage.journal()[0]?.body).toEqual({ model: 'gpt-image-1.5', prompt: 'A cat', n: 2 });
  const urls: string[] = body.data.map(({ url }: Body) => url);
  expect(body).toEqual({ created: 5, data: [{ url: urls[0], revised_prompt: 'One' }, { url: urls[1] }] });
  expect(new Set(urls).size).toBe(2);
  for (const url of urls) {
    expect(url).not.toContain(stage.caller.account);
    const whole = await open(url);
    expect(whole.headers.get('content-type')).toBe('image/png');
    expect(whole.headers.get('content-security-policy')).toContain('sandbox');
    expect(Buffer.from(await whole.arrayBuffer()).equals(BYTES)).toBe(true);
    const part = await open(url, { range: 'bytes=1-3' });
    expect([part.status, await part.text()]).toEqual([206, 'PNG']);
  }
  expect(nanoCost(await stage.settledCall())).toBe(2n * PER_IMAGE);
});

test.each([
  ['a stream of base64', `data:image/png;base64,${PNG}`],
  ['one with parameters', `data:image/png;name=cat.png;base64,${PNG}`],
])('a data URL from a provider does not count as a URL: %s', async (_what, url) => {
  const stage = await drawing('openai', 'dall-e-3');
  stage.script({ json: { created: 5, data: [{ url, revised_prompt: 'One' }] }, repeat: true });
  const [image] = (await generate(stage)).body.data;
  expect(image.revised_prompt).toBe('One');
  const opened = await open(image.url);
  expect(opened.headers.get('content-type')).toBe('image/png');
  expect(Buffer.from(await opened.arrayBuffer()).equals(BYTES)).toBe(true);
  const inHand = (await generate(stage, { response_format: 'b64_json' })).body.data[0];
  expect(inHand).toMatchObject({ b64_json: PNG });
  expect(await stage.settled()).toHaveLength(2);
});

test('images from other formats, from chat models, and from several calls become URLs', async () => {
  const inlineData = { mimeType: 'image/png', data: PNG };
  const providers: [string, string, object, number][] = [
    ['stability', 'stable-image-core', { image: PNG, finish_reason: 'SUCCESS' }, 3],
    ['google', 'imagen-4.0-generate-001', { predictions: [{ bytesBase64Encoded: PNG, mimeType: 'image/png' }] }, 1],
    [
      'google',
      'gemini-2.5-flash-image',
      {
        candidates: [{ content: { role: 'model', parts: [{ text: 'Here.' }, { inlineData }] }, finishReason: 'STOP' }],
      },
      2,
    ],
  ];
  for (const [type, upstreamModel, json, n] of providers) {
    const stage = await drawing(type, upstreamModel);
    stage.script({ json, repeat: true });
    const { data } = (await generate(stage, { n })).body;
    expect(data).toHaveLength(n);
    for (const { url } of data) expect(Buffer.from(await (await open(url)).arrayBuffer()).equals(BYTES)).toBe(true);
    expect(nanoCost(await stage.settledCall())).toBe(BigInt(n) * PER_IMAGE);
  }
});

test("a provider's own URLs pass, and without a requested form images come as the model returns them", async () => {
  const stage = await drawing('openai-compatible', 'm');
  const url = 'https://images.test/1.png';
  stage.script({ json: { created: 1, data: [{ url }] } }, { json: { created: 1, data: [{ b64_json: PNG }] } });
  expect((await generate(stage)).body.data).toEqual([{ url }]);
  expect((await generate(stage, { response_format: undefined })).body.data).toEqual([{ b64_json: PNG }]);
  await stage.settled();
});

test('an invalid or expired name is 404', async () => {
  const random = '0'.repeat(32);
  const over = (1000).toString(36).padStart(9, '0');
  const coming = (Date.now() + 9e9).toString(36).padStart(9, '0');
  for (const name of [`image_${over}p_${random}`, `image_${coming}p_${random}`, 'image_x', '..%2fmodelport.db']) {
    const response = await fetch(`${scene.gateway.url}/files/${name}`);
    expect(response.status).toBe(404);
  }
});

test('if the image cannot be stored it is returned as a data URL and charged', async () => {
  const own = await startScene({
    environment: {
      MODELPORT_PUBLIC_URL: PUBLIC,
      MODELPORT_FILES_ENDPOINT: 'http://127.0.0.1:9',
      MODELPORT_FILES_BUCKET: 'none',
      MODELPORT_FILES_ACCESS_KEY: 'a',
      MODELPORT_FILES_SECRET_KEY: 'b',
    },
  });
  try {
    const stage = await own.stage({ kind: 'image', price: { perImage: 0.002 }, type: 'openai' });
    stage.script({ json: { created: 5, data: [{ b64_json: PNG }] } });
    expect((await generate(stage)).body.data).toEqual([{ url: `data:image/png;base64,${PNG}` }]);
    expect(nanoCost(await stage.settledCall())).toBe(PER_IMAGE);
    while (!own.gateway.log().includes('could not be kept')) await Bun.sleep(50);
  } finally {
    await own.close();
  }
}, 60_000);
