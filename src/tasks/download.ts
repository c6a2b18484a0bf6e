/** Fetches a finished video from its vendor into our files, piece by piece. */
import { GatewayError } from '../canonical/errors.ts';
import { createFilmReader, type FilmReader } from '../canonical/film-facts.ts';
import type { FoundOutput, TaskOutput } from '../canonical/task.ts';
import type { Outgoing, Provider, Target } from '../providers/provider.ts';
import { Cancellation, type Exchange, type TimeLimits } from '../transport/transport.ts';
import type { TaskRooms } from './rooms.ts';

const LIMITS: TimeLimits = {
  connectMs: 10_000,
  headersMs: 60_000,
  firstTokenMs: 60_000,
  silenceMs: 60_000,
  wholeMs: 1_800_000,
};
const MOST_REDIRECTS = 5;
const DEFAULT_TYPE = 'video/mp4';

/** Throws a retryable error where another try may bring it. */
export async function download(
  rooms: TaskRooms,
  provider: Provider,
  target: Target,
  file: string,
  found: FoundOutput,
): Promise<Omit<TaskOutput, 'file'>> {
  const film = createFilmReader();
  const most = rooms.settings.maxResultBytes;
  if ('base64' in found) {
    const bytes = await rooms.files.write(file, seen(film, once(Buffer.from(found.base64, 'base64'))), most);
    return { mimeType: found.mimeType ?? DEFAULT_TYPE, bytes, ...filmOf(film) };
  }
  const answer = await open(rooms, provider, target, found);
  const said = answer.headers.get('content-type')?.split(';')[0]?.trim();
  const mimeType = found.mimeType ?? (said?.startsWith('video/') ? said : DEFAULT_TYPE);
  try {
    const bytes = await rooms.files.write(file, seen(film, piecesOf(answer)), most);
    const isPacked = (answer.headers.get('content-encoding') ?? 'identity') !== 'identity';
    const announced = isPacked ? undefined : answer.headers.get('content-length');
    if (bytes === 0 || (announced && Number(announced) !== bytes)) throw incomplete();
    return { mimeType, bytes, ...filmOf(film) };
  } catch (thrown) {
    answer.cancel();
    await rooms.files.remove(file);
    throw thrown;
  }
}

async function open(
  rooms: TaskRooms,
  provider: Provider,
  target: Target,
  { url, signed }: { url: string; signed?: true },
): Promise<Exchange> {
  let outgoing: Outgoing = { method: 'GET', url, headers: { 'accept-encoding': 'identity' }, body: undefined };
  // A credential goes to the vendor's own address, never to where it redirects.
  const own = [target.baseUrl, provider.video?.filesAt?.(target)];
  if (signed && own.some((one) => one !== undefined && isSameOrigin(url, one)))
    await provider.authorize(outgoing, target, rooms.signing);
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    const answer = await rooms.transport.send(outgoing, LIMITS, performance.now() + LIMITS.wholeMs, new Cancellation());
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

/** Nothing where the file says nothing. */
function filmOf(reader: FilmReader): Pick<TaskOutput, 'film'> {
  const film = reader.facts();
  return Object.keys(film).length > 0 ? { film } : {};
}

async function* seen(film: FilmReader, pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    film.see(piece);
    yield piece;
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function incomplete(): GatewayError {
  return new GatewayError('upstream_failed', 'The finished video arrived in part.');
}
