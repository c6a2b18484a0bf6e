// The official openai library's videos (its name is the first argument): one JSON line in, what its user sees as one JSON line out.
import { createInterface } from 'node:readline';

const { default: OpenAI, toFile } = await import(process.argv[2] ?? 'openai');

async function run({ id, baseURL, apiKey, request, image, remix, deleteAtOnce, maxRetries = 0 }) {
  const client = new OpenAI({ apiKey, baseURL, maxRetries, timeout: 20_000 });
  const view = {};
  try {
    const reference = image && { input_reference: await toFile(Buffer.from(image, 'base64'), 'a.png') };
    view.created = await client.videos.create({ ...request, ...reference });
    if (deleteAtOnce) {
      view.deleted = await client.videos.delete(view.created.id);
      return await client.videos.retrieve(view.created.id);
    }
    const video = await ended(client, view.created);
    view.ended = video;
    if (remix) {
      view.remixed = await client.videos.remix(video.id, remix);
      view.remixEnded = await ended(client, view.remixed);
    }
    const content = await client.videos.downloadContent(video.id);
    view.type = content.headers.get('content-type');
    view.bytes = (await content.arrayBuffer()).byteLength;
    view.listed = [];
    for await (const one of client.videos.list({ limit: 1 })) view.listed.push(one.id);
    view.deleted = await client.videos.delete(video.id);
    await client.videos.retrieve(video.id);
  } catch (thrown) {
    view.error = { class: thrown?.constructor?.name, status: thrown?.status, message: String(thrown?.message) };
  } finally {
    process.stdout.write(`${JSON.stringify({ id, ...view })}\n`);
  }
}

async function ended(client, video) {
  let last = video;
  while (last.status === 'queued' || last.status === 'in_progress') {
    await new Promise((resolve) => setTimeout(resolve, 100));
    last = await client.videos.retrieve(video.id);
  }
  return last;
}

for await (const line of createInterface({ input: process.stdin })) void run(JSON.parse(line));
