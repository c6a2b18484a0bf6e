/** Rules for generateContent and video tasks. */
import { expect } from 'bun:test';
import type { Any, Kind, Rule, Sent, World } from './world.ts';
import { eventsOf, expectKind, refusalOf, replyOf, rule, sample } from './world.ts';

const contents = (...parts: object[]) => [{ role: 'user', parts }];
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const inline = (mimeType: string, data: string) => ({ inlineData: { mimeType, data } });
const DATA: readonly (readonly [what: string, mimeType: string, data: string])[] = [
  ['an image', 'image/png', PNG],
  ['a PDF', 'application/pdf', Buffer.from('%PDF-1.4\n%%EOF').toString('base64')],
  ['an audio file', 'audio/wav', Buffer.from('RIFF....WAVEfmt ').toString('base64')],
  ['a video', 'video/mp4', Buffer.from('....ftypisom').toString('base64')],
];

const at = (model: string, action = 'generateContent', slash = ''): string =>
  `/v1beta/models/${model}:${action}${slash}`;
const drawing = (imageConfig: object = {}, model = 'sandbox-image', slash = ''): Sent => ({
  path: at(model, 'generateContent', slash),
  body: { contents: contents({ text: 'A house' }), generationConfig: { responseModalities: ['IMAGE'], imageConfig } },
});
const speaking = (voiceName?: string): Sent => ({
  path: at('sandbox-speech'),
  body: {
    contents: contents({ text: 'Good morning' }),
    generationConfig: {
      responseModalities: ['AUDIO'],
      ...(voiceName && { speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName } } } }),
    },
  },
});
const firstData = ({ candidates }: Any): Any =>
  candidates[0].content.parts.map((part: Any) => part.inlineData).find((data: unknown) => data !== undefined);

export const GENERATE_RULES: readonly Rule[] = [
  ...DATA.map(([what, mimeType, data]) =>
    rule(`generateContent recognises ${what} given as base64 in \`inlineData\``, async (world) => {
      const { candidates } = await replyOf(
        world,
        sample('generate', { contents: contents({ text: 'What is it?' }, inline(mimeType, data)) }),
      );
      expect(candidates[0].content.parts[0].text).not.toBe('');
    }),
  ),
  ...['generateContent', 'streamGenerateContent?alt=sse'].map((action) =>
    rule(`${action}: \`fileData.fileUri\` is unsupported, and refused in Google's shape`, async (world) => {
      const body = {
        contents: contents({ fileData: { fileUri: 'https://127.0.0.1/v1beta/files/abc', mimeType: 'image/png' } }),
      };
      const { status, error } = await refusalOf(world, { path: at('sandbox-chat', action), body });
      expect(status).toBe(400);
      expect(error).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT' });
      expect(error.message).toContain('fileUri');
    }),
  ),
  ...['/upload/v1beta/files', '/v1beta/files'].map((path) =>
    rule(`a separate upload of files (${path}) is unsupported, and refused in Google's shape`, async (world) => {
      const { status, error } = await refusalOf(world, { path, body: {} });
      expect(status).toBe(400);
      expect(error).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT' });
    }),
  ),
  rule('generateContent: base64 that is none is refused', async (world) => {
    const { status } = await refusalOf(world, sample('generate', { contents: contents(inline('image/png', '%%%')) }));
    expect(status).toBe(400);
  }),
  ...['GET', 'PUT', 'DELETE'].map((method) =>
    rule(`the actions of a model take POST alone: ${method} is 405`, async (world) => {
      const { status } = await refusalOf(world, { method, path: at('sandbox-chat') });
      expect(status).toBe(405);
    }),
  ),
  rule(
    'the path of a model knows the actions generateContent and streamGenerateContent: another is refused',
    async (world) => {
      const { status, error } = await refusalOf(world, { ...sample('generate'), path: at('sandbox-chat', 'dream') });
      expect([status, error.status]).toEqual([404, 'NOT_FOUND']);
    },
  ),
  rule('streamGenerateContent with alt=sse is a stream of events', async (world) => {
    const { data, type } = await eventsOf(world, {
      ...sample('generate'),
      path: at('sandbox-chat', 'streamGenerateContent?alt=sse'),
    });
    expect(type).toContain('text/event-stream');
    const chunks = data.map((one) => JSON.parse(one));
    expect(chunks.map(({ candidates }) => candidates?.[0]?.content?.parts?.[0]?.text ?? '').join('')).not.toBe('');
    expect(chunks.at(-1).candidates[0].finishReason).toBe('STOP');
  }),
  rule('generateContent: the total is the sum of the counts', async (world) => {
    const { usageMetadata } = await replyOf(world, sample('generate'));
    const { promptTokenCount, candidatesTokenCount, totalTokenCount } = usageMetadata;
    expect(totalTokenCount).toBe(promptTokenCount + candidatesTokenCount);
  }),
  rule('speech: generateContent with `responseModalities` AUDIO gives audio as base64', async (world) => {
    const { mimeType, data } = firstData(await replyOf(world, speaking()));
    expect(mimeType).toStartWith('audio/');
    expect(Buffer.from(data, 'base64').length).toBeGreaterThan(1000);
  }),
  rule('speech: `speechConfig.voiceConfig.prebuiltVoiceConfig.voiceName` is taken', async (world) => {
    expect(firstData(await replyOf(world, speaking('Kore'))).mimeType).toStartWith('audio/');
  }),
  rule('speech: `voiceName` is a text', async (world) => {
    const sent = speaking('Kore');
    (sent.body as Any).generationConfig.speechConfig.voiceConfig.prebuiltVoiceConfig.voiceName = 5;
    expect(await refusalOf(world, sent)).toMatchObject({ status: 400, words: expect.stringContaining('voiceName') });
  }),
  rule('speech: `contents` are required', async (world) => {
    const { generationConfig } = speaking().body as Any;
    expect((await refusalOf(world, { path: at('sandbox-speech'), body: { generationConfig } })).status).toBe(400);
  }),
  rule('speech: without `generationConfig` no audio was requested, which is refused', async (world) => {
    const { status } = await refusalOf(world, {
      path: at('sandbox-speech'),
      body: { contents: contents({ text: 'Hello' }) },
    });
    expect(status).toBe(400);
  }),
  rule('chat: `modalities` with audio gives audio, with the voice and the format of `audio`', async (world) => {
    const more = { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } };
    const { choices } = await replyOf(world, sample('chat', more, 'sandbox-speech'));
    expect(Buffer.from(choices[0].message.audio.data, 'base64').toString('latin1', 0, 4)).toBe('RIFF');
  }),
  rule('images: generateContent with `responseModalities` IMAGE gives an image as base64', async (world) => {
    expect(firstData(await replyOf(world, drawing())).mimeType).toStartWith('image/');
  }),
  rule('images: the same path with a slash behind gives an image too', async (world) => {
    expect(firstData(await replyOf(world, drawing({}, 'sandbox-image', '/'))).mimeType).toStartWith('image/');
  }),
  rule('images: `imageConfig.aspectRatio` is the shape of the image', async (world) => {
    const { data } = firstData(await replyOf(world, drawing({ aspectRatio: '16:9' })));
    const png = Buffer.from(data, 'base64');
    expect(png.readUInt32BE(16) / png.readUInt32BE(20)).toBeCloseTo(16 / 9, 1);
  }),
  rule('images: `contents` are required of generateContent', async (world) => {
    const body = { ...(drawing().body as Any), contents: undefined };
    expect((await refusalOf(world, { path: at('sandbox-image'), body })).words).toContain('"field":"contents"');
  }),
  rule('images: `imageConfig.imageSize` is taken', async (world) => {
    expect(firstData(await replyOf(world, drawing({ imageSize: '1K' }))).mimeType).toStartWith('image/');
  }),
];

const form = (fields: { [name: string]: string }): FormData => {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.set(name, value);
  return data;
};
const order = (fields: { [name: string]: string }): Sent => ({ path: '/v1/videos', body: form(fields) });

const VIDEO = {
  model: 'sandbox-video',
  prompt: 'A house [[delay 1]]',
  duration: '2',
  width: '160',
  height: '96',
  fps: '4',
  seed: '7',
  user: 'someone',
  metadata: JSON.stringify({ negative_prompt: 'rain', style: 'oil', quality_level: 'high' }),
};
const FIELDS: readonly (readonly [name: string, value: string, wrong?: string])[] = [
  ['model', 'sandbox-video'],
  ['prompt', 'A house'],
  ['image', `data:image/png;base64,${PNG}`],
  ['duration', '2', 'long'],
  ['width', '320', 'wide'],
  ['height', '240', 'high'],
  ['fps', '24', 'fast'],
  ['seed', '7', 'lucky'],
  ['n', '1', 'many'],
  ['response_format', 'url'],
  ['user', 'someone'],
  ['metadata', '{"negative_prompt":"rain"}'],
];

/** The id of an accepted order, which is not awaited. */
async function ordered(world: World, fields: { [name: string]: string }): Promise<unknown> {
  return (await replyOf(world, order({ ...fields }))).id;
}

/** The one video that is awaited, as each endpoint shows it. */
const finished = new WeakMap<World, Promise<{ created: Any; id: string }>>();

function video(world: World): Promise<{ created: Any; id: string }> {
  let making = finished.get(world);
  if (!making) {
    making = make(world);
    finished.set(world, making);
  }
  return making;
}

async function make(world: World): Promise<{ created: Any; id: string }> {
  const created = await replyOf(world, order(VIDEO));
  for (let tries = 0; tries < 200; tries++) {
    const { status } = await replyOf(world, { method: 'GET', path: `/v1/videos/${created.id}` });
    if (status === 'completed') return { created, id: created.id };
    if (status === 'failed') break;
    await Bun.sleep(50);
  }
  throw new Error('the video was not finished');
}

const SHOWN: readonly (readonly [name: string, kind: Kind])[] = [
  ['id', 'string'],
  ['object', 'string'],
  ['model', 'string'],
  ['status', 'string'],
  ['progress', 'integer'],
  ['created_at', 'integer'],
  ['seconds', 'string'],
];
const RESULTS = ['/v1/video/generations', '/vendor-a/v1/videos/text2video', '/vendor-a/v1/videos/image2video'];
const get = (world: World, path: string) => replyOf(world, { method: 'GET', path });
const MADE: readonly (readonly [name: string, value: number])[] = [
  ['duration', 2],
  ['width', 160],
  ['height', 96],
  ['fps', 4],
  ['seed', 7],
];

export const VIDEO_RULES: readonly Rule[] = [
  rule('videos: every field is optional: an empty form is an order', async (world) => {
    expectKind(await ordered(world, {}), 'string');
  }),
  ...FIELDS.map(([name, value]) =>
    rule(`videos: the form's field \`${name}\` is taken`, async (world) => {
      // A size needs both sides.
      const side = { width: { height: '240' }, height: { width: '320' } }[name];
      expectKind(await ordered(world, { ...side, [name]: value }), 'string');
    }),
  ),
  ...FIELDS.flatMap(([name, , wrong]) =>
    wrong === undefined
      ? []
      : [
          rule(`videos: \`${name}\` is a number: "${wrong}" is refused and named`, async (world) => {
            const { status, error } = await refusalOf(world, order({ [name]: wrong }));
            expect({ status, param: error.param }).toEqual({ status: 400, param: name });
          }),
        ],
  ),
  ...SHOWN.map(([name, kind]) =>
    rule(`videos: the task has \`${name}\` (${kind}) when it is created`, async (world) => {
      expectKind((await video(world)).created[name], kind);
    }),
  ),
  ...SHOWN.map(([name, kind]) =>
    rule(`videos: the task has \`${name}\` (${kind}) when its status is polled`, async (world) => {
      expectKind((await get(world, `/v1/videos/${(await video(world)).id}`))[name], kind);
    }),
  ),
  ...['completed_at', 'expires_at'].map((name) =>
    rule(`videos: a finished task has \`${name}\` (integer)`, async (world) => {
      expectKind((await get(world, `/v1/videos/${(await video(world)).id}`))[name], 'integer');
    }),
  ),
  rule('videos: a finished task has `size` (string)', async (world) => {
    expect((await get(world, `/v1/videos/${(await video(world)).id}`)).size).toBe('160x96');
  }),
  rule('videos: `seconds` is the length that was ordered', async (world) => {
    expect((await video(world)).created.seconds).toBe('2');
  }),
  rule('videos: `metadata` is shown again', async (world) => {
    const { metadata } = await get(world, `/v1/videos/${(await video(world)).id}`);
    expect(metadata).toMatchObject({ style: 'oil', quality_level: 'high' });
  }),
  rule('videos: `metadata.negative_prompt` is shown again', async (world) => {
    const { metadata } = await get(world, `/v1/videos/${(await video(world)).id}`);
    expect(metadata.negative_prompt).toBe('rain');
  }),
  ...MADE.map(([name, value]) =>
    rule(`videos: the \`metadata\` of a finished task has \`${name}\` as the file has it`, async (world) => {
      expect((await get(world, `/v1/videos/${(await video(world)).id}`)).metadata[name]).toBe(value);
    }),
  ),
  rule('videos: `progress` is from 0 to 100, never falls, and is 100 at the end', async (world) => {
    const { id } = await replyOf(world, order({ prompt: 'A house [[delay 300]]' }));
    const seen: number[] = [];
    for (let tries = 0; tries < 400 && seen.at(-1) !== 100; tries++) {
      seen.push((await get(world, `/v1/videos/${id}`)).progress);
      await Bun.sleep(25);
    }
    expect(seen.at(-1)).toBe(100);
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
  }),
  rule('videos: a task begins queued or in progress', async (world) => {
    expect(['queued', 'in_progress']).toContain((await video(world)).created.status);
  }),
  ...RESULTS.flatMap((path) => [
    rule(`GET ${path}/{task_id} has \`task_id\``, async (world) => {
      const { id } = await video(world);
      expect((await get(world, `${path}/${id}`)).task_id).toBe(id);
    }),
    rule(`GET ${path}/{task_id} has the status completed when it is`, async (world) => {
      expect((await get(world, `${path}/${(await video(world)).id}`)).status).toBe('completed');
    }),
    rule(`GET ${path}/{task_id} has the \`url\` of the finished video, which holds a video`, async (world) => {
      const { url } = await get(world, `${path}/${(await video(world)).id}`);
      const file = await fetch(url);
      expect(file.headers.get('content-type')).toBe('video/mp4');
      expect(Buffer.from(await file.arrayBuffer()).toString('latin1', 4, 8)).toBe('ftyp');
    }),
    rule(`GET ${path}/{task_id} has the container's \`format\``, async (world) => {
      expect((await get(world, `${path}/${(await video(world)).id}`)).format).toBe('mp4');
    }),
    ...MADE.map(([name, value]) =>
      rule(`GET ${path}/{task_id} has \`metadata.${name}\` (integer), as the file has it`, async (world) => {
        expect((await get(world, `${path}/${(await video(world)).id}`)).metadata[name]).toBe(value);
      }),
    ),
    rule(`GET ${path}/{task_id}: a task that does not exist names \`task_id\``, async (world) => {
      const { status, error } = await refusalOf(world, { method: 'GET', path: `${path}/none` });
      expect({ status, param: error.param }).toEqual({ status: 404, param: 'task_id' });
    }),
    rule(`GET ${path}/{task_id}: a failed task carries an error of an integer code and a message`, async (world) => {
      const { status, error } = await get(world, `${path}/${await failed(world)}`);
      expect(status).toBe('failed');
      expectKind(error.code, 'integer');
      expectKind(error.message, 'string');
    }),
  ]),
  rule('GET /v1/videos/{task_id}: a task that does not exist names `task_id`', async (world) => {
    const { status, error } = await refusalOf(world, { method: 'GET', path: '/v1/videos/none' });
    expect({ status, param: error.param }).toEqual({ status: 404, param: 'task_id' });
  }),
  rule('GET /v1/videos/{task_id}: a failed task carries an error of a textual code and a message', async (world) => {
    const { error } = await get(world, `/v1/videos/${await failed(world)}`);
    expectKind(error.code, 'string');
    expectKind(error.message, 'string');
  }),
];

const failures = new WeakMap<World, Promise<string>>();

function failed(world: World): Promise<string> {
  const known = failures.get(world) ?? fail(world);
  failures.set(world, known);
  return known;
}

async function fail(world: World): Promise<string> {
  const { id } = await replyOf(world, order({ model: 'sandbox-video', prompt: '[[refuse]] [[delay 1]]' }));
  for (let tries = 0; tries < 200; tries++) {
    if ((await get(world, `/v1/videos/${id}`)).status === 'failed') return id;
    await Bun.sleep(50);
  }
  throw new Error('the video did not fail');
}

const SUBMIT = '/vendor-b/?Action=CVSync2AsyncSubmitTask&Version=2022-08-31';
const RESULT = '/vendor-b/?Action=CVSync2AsyncGetResult&Version=2022-08-31';
const submit = (world: World, body: object = { req_key: 'sandbox-video', prompt: 'A house [[delay 1]]' }) =>
  replyOf(world, { path: SUBMIT, body });

export const JIMENG_RULES: readonly Rule[] = [
  ...(
    [
      ['code', 'integer'],
      ['message', 'string'],
      ['data', 'object'],
    ] as const
  ).map(([name, kind]) =>
    rule(`vendor-b: the answer to a submitted task has \`${name}\` (${kind})`, async (world) => {
      expectKind((await submit(world))[name], kind);
    }),
  ),
  ...(
    [
      ['req_key', { req_key: 'sandbox-video' }],
      ['prompt', { prompt: 'A house' }],
      ['binary_data_base64', { binary_data_base64: [PNG] }],
    ] as const
  ).map(([name, body]) =>
    rule(`vendor-b: \`${name}\` is optional and taken alone`, async (world) => {
      expectKind((await submit(world, body)).data.task_id, 'string');
    }),
  ),
  rule('vendor-b: GetResult fetches the result of a task', async (world) => {
    const { id } = await video(world);
    const { code, data: result } = await replyOf(world, { path: RESULT, body: { task_id: id } });
    expect([code, result.status]).toEqual([10000, 'done']);
    expectKind(result.video_url, 'string');
  }),
  ...['Action', 'Version'].map((name) =>
    rule(`vendor-b: the query \`${name}\` is required, and named where it is missing`, async (world) => {
      const query = new URLSearchParams({ Action: 'CVSync2AsyncSubmitTask', Version: '2022-08-31' });
      query.delete(name);
      const { status, error } = await refusalOf(world, { path: `/vendor-b/?${query}`, body: {} });
      expect({ status, param: error.param }).toEqual({ status: 400, param: name });
    }),
  ),
  rule('vendor-b: another action is refused', async (world) => {
    const { status, error } = await refusalOf(world, { path: '/vendor-b/?Action=Dream&Version=2022-08-31', body: {} });
    expect({ status, param: error.param }).toEqual({ status: 400, param: 'Action' });
  }),
];
