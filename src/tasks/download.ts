/** Downloads a finished video from its provider into the file store, as a stream. */
import { GatewayError } from '../canonical/errors.ts';
import type { FoundOutput, TaskOutput } from '../canonical/task.ts';
import { createVideoReader, type VideoReader } from '../canonical/video-facts.ts';
import type { Outgoing, Target } from '../providers/outgoing.ts';
import type { Provider } from '../providers/provider.ts';
import { Cancellation } from '../transport/cancellation.ts';
import type { Exchange } from '../transport/exchange.ts';
import type { TimeLimits } from '../transport/time-limits.ts';
import type { TaskDeps } from './task-deps.ts';

const LIMITS: TimeLimits = {
  connectMs: 10_000,
  headersMs: 60_000,
  firstTokenMs: 60_000,
  silenceMs: 60_000,
  wholeMs: 1_800_000,
};
const MOST_REDIRECTS = 5;
const DEFAULT_TYPE = 'video/mp4';

/** Throws a retryable error if another attempt may succeed. */
export async function download(
  deps: TaskDeps,
  provider: Provider,
  target: Target,
  file: string,
  found: FoundOutput,
): Promise<Omit<TaskOutput, 'file'>> {
  const video = createVideoReader();
  const most = deps.settings.maxResultBytes;
  if ('base64' in found) {
    const bytes = await deps.files.write(file, seen(video, once(Buffer.from(found.base64, 'base64'))), most);
    return { mimeType: found.mimeType ?? DEFAULT_TYPE, bytes, ...videoOf(video) };
  }
  const answer = await open(deps, provider, target, found);
  const contentType = answer.headers.get('content-type')?.split(';')[0]?.trim();
  const mimeType = found.mimeType ?? (contentType?.startsWith('video/') ? contentType : DEFAULT_TYPE);
  try {
    const bytes = await deps.files.write(file, seen(video, piecesOf(answer)), most);
    const isPacked = (answer.headers.get('content-encoding') ?? 'identity') !== 'identity';
    const announced = isPacked ? undefined : answer.headers.get('content-length');
    if (bytes === 0 || (announced && Number(announced) !== bytes)) throw incomplete();
    return { mimeType, bytes, ...videoOf(video) };
  } catch (thrown) {
    answer.cancel();
    await deps.files.remove(file);
    throw thrown;
  }
}

async function open(
  deps: TaskDeps,
  provider: Provider,
  target: Target,
  { url, signed }: { url: string; signed?: true },
): Promise<Exchange> {
  let outgoing: Outgoing = { method: 'GET', url, headers: { 'accept-encoding': 'identity' }, body: undefined };
  // The credential is sent to the provider's own URLs, never to a redirect target.
  const own = [target.baseUrl, provider.video?.filesAt?.(target)];
  if (signed && own.some((one) => one !== undefined && isSameOrigin(url, one)))
    await provider.authorize(outgoing, target, deps.signing);
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    const answer = await deps.transport.send(outgoing, LIMITS, performance.now() + LIMITS.wholeMs, new Cancellation());
    if (answer.status === 200) return answer;
    const location = answer.headers.get('location');
    answer.cancel();
    if (answer.status < 300 || answer.status >= 400 || location === null) {
      throw new GatewayError('upstream_failed', `The finished video answered with status ${answer.status}.`);
    }
    outgoing = { ...outgoing, url: new URL(location, outgoing.url).href, headers: { 'accept-encoding': 'identity' } };
  }
  throw new GatewayError('upstream_failed', 'The finished video redirects too often.');
}

function isSameOrigin(one: string, other: string): boolean {
  return URL.parse(one)?.origin === URL.parse(other)?.origin;
}

async function* piecesOf(answer: Exchange): AsyncGenerator<Uint8Array> {
  for (let piece = await answer.read(); piece; piece = await answer.read()) yield piece;
}

/** Nothing if the file has no such data. */
function videoOf(reader: VideoReader): Pick<TaskOutput, 'video'> {
  const video = reader.facts();
  return Object.keys(video).length > 0 ? { video } : {};
}

async function* seen(video: VideoReader, pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    video.see(piece);
    yield piece;
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function incomplete(): GatewayError {
  return new GatewayError('upstream_failed', 'The finished video was not transferred completely.');
}
