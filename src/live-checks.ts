/** What `modelport doctor --live` tries: Redis, the storage of files, every credential, the clock, the disk. */
import { statfs } from 'node:fs/promises';
import { RedisClient } from 'bun';
import { asGatewayError } from './canonical/errors.ts';
import { lastFour } from './canonical/redaction.ts';
import type { LiveCheck } from './cli/cli-deps.ts';
import type { Config } from './config.ts';
import { openFiles } from './files/open-files.ts';
import { askList, targetOf } from './found-providers.ts';
import type { ProviderRow } from './store/catalog-rows.ts';
import type { Transport } from './transport/transport.ts';

export interface LiveChecks {
  config: Config;
  providers: readonly ProviderRow[];
  transport: Transport;
  now(): number;
}

const MOST_CLOCK_MS = 60_000;
const LEAST_FREE_BYTES = 1 << 30;
const FILE_MS = 15_000;
const REDIS_MS = 5000;

/** Each with a time limit of its own. No check shows a secret. */
export async function liveChecks(checks: LiveChecks): Promise<LiveCheck[]> {
  const { config } = checks;
  const credentials = checks.providers.flatMap((row) => credentialsOf(row, config).map((one) => ({ row, ...one })));
  const times: RemoteTime[] = [];
  const found = await Promise.all([
    ...(config.redisUrl === undefined
      ? []
      : [checked('Redis', () => checkRedis(config.redisUrl ?? '', checks, times))]),
    checked('files', () => checkFiles(config)),
    checked('disk', () => checkDisk(config.dataDir)),
    ...credentials.map(({ row, credential, name }) =>
      checked(`credential ${row.name} ${name}`, () => checkCredential(row, credential, checks, times)),
    ),
  ]);
  return [...found, clockOf(times), { check: 'runtime', ok: true, state: `Bun ${Bun.version}, ${process.platform}` }];
}

/** The time of another machine, beside ours at that moment. */
interface RemoteTime {
  there: number;
  here: number;
}

async function checked(check: string, work: () => Promise<Omit<LiveCheck, 'check'>>): Promise<LiveCheck> {
  try {
    return { check, ...(await work()) };
  } catch (thrown) {
    // Messages of drivers may contain an address with its password; codes do not.
    const { code } = thrown as { code?: unknown };
    return { check, ok: false, state: `not reachable${typeof code === 'string' ? ` (${code})` : ''}` };
  }
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(Object.assign(new Error(), { code: `no answer in ${ms} ms` })), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function checkRedis(url: string, { now }: LiveChecks, times: RemoteTime[]) {
  const redis = new RedisClient(url, { connectionTimeout: REDIS_MS, autoReconnect: false });
  try {
    await within(REDIS_MS, redis.connect());
    const began = performance.now();
    const [seconds] = (await within(REDIS_MS, redis.send('TIME', []))) as string[];
    const ms = performance.now() - began;
    times.push({ there: Number(seconds) * 1000 + 500, here: now() });
    const info = String(await within(REDIS_MS, redis.send('INFO', ['server'])));
    const version = /^redis_version:(\S+)/m.exec(info)?.[1] ?? 'of unknown version';
    return { ok: true, state: `Redis ${version}, answers in ${ms.toFixed(1)} ms` };
  } finally {
    redis.close();
  }
}

/** Writes, reads and removes a small file, as the gateway does with results. */
async function checkFiles({ files: place }: Config) {
  const files = openFiles(place);
  const name = `doctor_${crypto.randomUUID()}`;
  const where = 'folder' in place ? 'the data directory' : `bucket ${place.bucket}`;
  const bytes = new TextEncoder().encode('modelport doctor');
  async function* pieces() {
    yield bytes;
  }
  await within(FILE_MS, files.write(name, pieces(), bytes.length));
  try {
    const size = await within(FILE_MS, files.size(name));
    if (size !== bytes.length) return { ok: false, state: `${where} does not return what was written` };
  } finally {
    await within(FILE_MS, files.remove(name));
  }
  return { ok: true, state: `${where} can be written, read and deleted` };
}

async function checkDisk(folder: string) {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const state = `${(free / LEAST_FREE_BYTES).toFixed(1)} GiB free in the data directory`;
  return { ok: free >= LEAST_FREE_BYTES, state };
}

/** The credentials of a provider, or the one of the environment. Providers without any are called without one. */
function credentialsOf(row: ProviderRow, config: Config): { credential: string | undefined; name: string }[] {
  if (row.credentials.length > 0)
    return row.credentials.map((credential) => ({ credential, name: lastFour(credential) }));
  const { credential } = targetOf(row, config, undefined) ?? {};
  return [{ credential, name: credential === undefined ? '(none)' : lastFour(credential) }];
}

async function checkCredential(
  row: ProviderRow,
  credential: string | undefined,
  { config, transport, now }: LiveChecks,
  times: RemoteTime[],
) {
  const target = targetOf(row, config, credential);
  if (!target) return { ok: false, state: 'its type or its URL is not known' };
  try {
    const { status, date } = await askList(target, transport);
    const there = date === undefined ? Number.NaN : Date.parse(date);
    // The header has whole seconds.
    if (!Number.isNaN(there)) times.push({ there: there + 500, here: now() });
    return judged(status);
  } catch (thrown) {
    return { ok: false, state: asGatewayError(thrown).message };
  }
}

/** A provider without a list of models answers 404 or 405 before or after it looks at the credential, which has no meaning here. */
function judged(status: number): Omit<LiveCheck, 'check'> {
  if (status >= 200 && status < 300) return { ok: true, state: 'accepted' };
  if (status === 401 || status === 403) return { ok: false, state: `refused (status ${status})` };
  if (status === 429) return { ok: false, state: 'rate limited (status 429)' };
  if (status >= 500) return { ok: false, state: `the provider fails (status ${status})` };
  return { ok: true, state: `not checked: the provider answers, but lists no models (status ${status})` };
}

function clockOf(times: readonly RemoteTime[]): LiveCheck {
  const check = 'clock';
  if (times.length === 0) return { check, ok: true, state: 'not checked: nobody else told the time' };
  const differences = times.map(({ there, here }) => here - there).sort((a, b) => a - b);
  const middle = differences[Math.floor(differences.length / 2)] ?? 0;
  const seconds = (Math.abs(middle) / 1000).toFixed(1);
  const state = `${seconds} s ${middle < 0 ? 'behind' : 'ahead of'} the others`;
  return { check, ok: Math.abs(middle) <= MOST_CLOCK_MS, state };
}
