// The official openai library's videos (its name is the first argument): one JSON line in, what its user sees as one JSON line out.
import { createInterface } from 'node:readline';

const { default: OpenAI, toFile } = await import(process.argv[2] ?? 'openai');

async function run({ id, baseURL, apiKey, request, picture, maxRetries = 0 }) {
  const client = new OpenAI({ apiKey, baseURL, maxRetries, timeout: 20_000 });
  const view = {};
  try {
    const reference = picture && { input_reference: await toFile(Buffer.from(picture, 'base64'), 'a.png') };
    view.created = await client.videos.create({ ...request, ...reference });
    let video = view.created;
    while (video.status === 'queued' || video.status === 'in_progress') {
      await new Promise((resolve) => setTimeout(resolve, 100));
      video = await client.videos.retrieve(view.created.id);
    }
    view.ended = video;
    const content = await client.videos.downloadContent(video.id);
    view.type = content.headers.get('content-type');
    view.bytes = (await content.arrayBuffer()).byteLength;
    view.listed = [];
    for await (const one of client.videos.list({ limit: 1 })) view.listed.push(one.id);
    view.deleted = await client.videos.delete(video.id);
    await client.videos.retrieve(video.id);
  } catch (thrown) {
    view.error = { class: thrown?.constructor?.name, status: thrown?.status, message: String(thrown?.message) };
  }
  process.stdout.write(`${JSON.stringify({ id, ...view })}\n`);
}

for await (const line of createInterface({ input: process.stdin })) void run(JSON.parse(line));
