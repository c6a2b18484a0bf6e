/**
 * Videos of a storm: ordered at every gateway before a round, generated during it by a provider of which some fail and some report falsely.
 */

import { VIDEO } from '../../helpers/videos.ts';
import type { Answer } from '../../upstream/answer.ts';
import type { JournalEntry, ScriptedUpstream } from '../../upstream/scripted-upstream.ts';
import type { Bill } from './bills.ts';
import type { Cluster } from './cluster.ts';

export const VIDEO_MODEL = 'storm-video';
const PREFIX = '/storm-video/';
const NANO_PER_SECOND = 10_000n;
const ORDERS_A_ROUND = 6;
/** Polls until it is finished: about the length of a round. */
const POLLS = 8;
const WAYS = ['honest', 'fails', 'honest', 'lies'] as const;

interface Order {
  id: string;
  /** Different from all other orders. */
  seconds: number;
  way: (typeof WAYS)[number];
}

type Insist = (method: string, path: string, body: unknown) => Promise<unknown>;

export async function openVideos(insist: Insist, upstreamUrl: string): Promise<void> {
  const baseUrl = `${upstreamUrl}${PREFIX}v1`;
  await insist('POST', '/providers', { name: VIDEO_MODEL, type: 'openai', baseUrl, credential: 'sk-videos' });
  await insist('POST', '/models', {
    name: VIDEO_MODEL,
    kind: 'video',
    price: { perSecond: Number(NANO_PER_SECOND) / 1e9 },
    targets: [{ provider: VIDEO_MODEL, model: 'm' }],
  });
}

export type Videos = ReturnType<typeof createVideos>;

export function createVideos(cluster: Cluster, upstream: ScriptedUpstream) {
  const orders: Order[] = [];
  const polls = new Map<string, number>();
  let count = 0;
  const wayOf = (id: string) => WAYS[Number(/\d+/.exec(id)?.[0]) % WAYS.length]!;

  upstream.decide(PREFIX, ({ method, path, body, form }: JournalEntry): Answer => {
    if (method === 'POST') {
      const id = /video-\d+/.exec(form ?? JSON.stringify(body))?.[0] ?? '';
      return { json: { id, object: 'video', status: 'queued', progress: 0 } };
    }
    if (path.includes('/content')) return { bytes: VIDEO, headers: { 'content-type': 'video/mp4' } };
    const id = /video-\d+/.exec(path)?.[0] ?? '';
    polls.set(id, (polls.get(id) ?? 0) + 1);
    const isMade = polls.get(id)! > POLLS;
    const status = isMade ? (wayOf(id) === 'fails' ? 'failed' : 'completed') : 'in_progress';
    const error = status === 'failed' && { error: { code: 'x', message: 'No.' } };
    return {
      json: { id, object: 'video', status, progress: 50, ...(wayOf(id) === 'lies' && { seconds: '4000' }), ...error },
    };
  });

  async function orderOne(key: string): Promise<void> {
    const seconds = ++count + 3;
    const { url } = cluster.gateways[count % cluster.gateways.length]!;
    const text = await takenOn(url, key, seconds);
    const { id } = JSON.parse(text) as { id: string };
    orders.push({ id, seconds, way: wayOf(`video-${seconds}`) });
  }

  return {
    async order(key: string): Promise<void> {
      await Promise.all(Array.from({ length: ORDERS_A_ROUND }, () => orderOne(key)));
    },

    /** Each is recorded once, and costs what was ordered, or nothing if it failed; a false length costs no more. */
    faults(bills: readonly Bill[]): string[] {
      const own = bills.filter(({ model }) => model === VIDEO_MODEL);
      const strange = own.filter(({ id }) => !orders.some((order) => order.id === id));
      return [
        ...strange.map(({ id }) => `the video ${id} was not ordered`),
        ...orders.flatMap(({ id, seconds, way }) => {
          const [bill, ...more] = own.filter((one) => one.id === id);
          const due = way === 'fails' ? 0n : BigInt(seconds) * NANO_PER_SECOND;
          const isRight = bill?.cost === due && more.length === 0;
          if (isRight) return [];
          return [`the video ${id} (${way}, ${bill?.outcome ?? 'without a record'}) costs ${bill?.cost}, not ${due}`];
        }),
      ];
    },
  };
}

/** A process knows a new model within a second, and has a lease again soon after an outage. */
const KNOWN_WITHIN_MS = 20_000;

async function takenOn(url: string, key: string, seconds: number): Promise<string> {
  for (const end = performance.now() + KNOWN_WITHIN_MS; ; await Bun.sleep(100)) {
    const response = await fetch(`${url}/v1/videos`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'idempotency-key': `storm-${seconds}`,
      },
      body: JSON.stringify({ model: VIDEO_MODEL, prompt: `video-${seconds}`, seconds }),
    });
    const text = await response.text();
    if (response.ok) return text;
    const mayChange = response.status === 404 || response.status === 503;
    if (!mayChange || performance.now() > end) throw new Error(`a video was not taken on: ${response.status} ${text}`);
  }
}
