/** For the mutation of replies: the gateway and its tasks in this process, with a provider whose answers the test sets. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAccess } from '../../src/access/access.ts';
import { issueKey } from '../../src/access/key.ts';
import type { Kind } from '../../src/canonical/call.ts';
import { GatewayError } from '../../src/canonical/errors.ts';
import { newId } from '../../src/canonical/id.ts';
import { HOUR_MS } from '../../src/canonical/time.ts';
import { applyCatalogue } from '../../src/catalog/apply.ts';
import { createCatalog } from '../../src/catalog/catalog.ts';
import { createMemory } from '../../src/conversations/conversations.ts';
import { providerDialectNamed } from '../../src/dialects/index.ts';
import { folderFiles } from '../../src/files/folder-files.ts';
import { createImageStore } from '../../src/files/image-store.ts';
import type { GatewayDeps } from '../../src/gateway/gateway-deps.ts';
import { createGateway } from '../../src/gateway/serve.ts';
import { createLedger } from '../../src/ledger/prepaid-ledger.ts';
import { providerOf } from '../../src/providers/index.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import type { TaskDeps } from '../../src/tasks/task-deps.ts';
import { createEvents } from '../../src/telemetry/events.ts';
import { createTransport, type Transport } from '../../src/transport/transport.ts';
import { VIDEO_FORMATS } from '../helpers/video-formats.ts';
import type { OtherReply } from './other-replies.ts';

const UPSTREAM = 'http://provider.test';
const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex');

const PRICES: { readonly [kind in Kind]?: object } = {
  embed: { price: { input: 1 } },
  rerank: { price: { input: 1 } },
  moderation: { price: { input: 1 } },
  image: { price: { perImage: 0.01, output: 10 } },
  speech: { price: { perMillionCharacters: 10, output: 1 } },
  transcription: { price: { perSecond: 0.001, input: 1, output: 1 } },
};

export interface Answered {
  contentType: string;
  body: Uint8Array;
}

/** No mutated URL is requested; invalid URLs fail as usual. */
function transportTo(answer: () => Answered): Transport {
  const transport = createTransport({
    local: {
      [UPSTREAM]: async () => {
        const { contentType, body } = answer();
        return new Response(body as Bun.BodyInit, { headers: { 'content-type': contentType } });
      },
    },
  });
  const urlOf = (url: string) => (/^https?:/.test(url) && URL.canParse(url) ? `${UPSTREAM}/` : url);
  return { send: (sending, ...rest) => transport.send({ ...sending, url: urlOf(sending.url) }, ...rest) };
}

/** The public name of the model with this reply. */
export const modelOf = ({ provider, model, kind }: Pick<OtherReply, 'provider' | 'model' | 'kind'>) =>
  `${provider}-${kind}-${model}`.replace(/[^\w-]/g, '_');
export const videoModelOf = (provider: string) => `video-${provider}`;

/** All providers and models that the replies need. */
function catalogueFor(replies: readonly OtherReply[]) {
  const videos = VIDEO_FORMATS.map(({ provider: { name }, target }) => ({ name, model: target?.model ?? 'm-1' }));
  const types = new Set([...replies.map(({ provider }) => provider), ...videos.map(({ name }) => name)]);
  const settings = { region: 'us-east-1', project: 'p', location: 'global', apiVersion: '2024-10-21' };
  const providers = [...types].map((type) => ({
    name: type,
    type,
    baseUrl: `${UPSTREAM}/v1`,
    credential: type === 'kling' ? 'access:a-secret-of-32-characters-at-least' : 'AIza-key',
    settings,
  }));
  const models = new Map<string, object>();
  for (const reply of replies) {
    const { provider, model, kind } = reply;
    models.set(modelOf(reply), { name: modelOf(reply), kind, ...PRICES[kind], targets: [{ provider, model }] });
  }
  for (const { name: provider, model } of videos) {
    const name = videoModelOf(provider);
    models.set(name, { name, kind: 'video', price: { perSecond: 0.1 }, targets: [{ provider, model }] });
  }
  return { providers, models: [...models.values()] };
}

async function openAccount(store: Store, now: number) {
  const account = newId('acct_');
  await store.createAccount({ id: account, name: 'default', balance: 0n, held: 0n, createdAt: now });
  const { key, hash, last4 } = issueKey('caller');
  await store.createKey({ id: newId('key_'), account, kind: 'caller', name: 't', hash, last4, createdAt: now });
  return { account, key };
}

/** Whether it is a fault of the gateway and not of the provider. */
export const isOurs = (thrown: unknown) => !(thrown instanceof GatewayError) || thrown.code === 'internal_error';

/** `answer`: the provider's answer to every request. `reportError`: called for faults of the gateway. */
export async function openMutationDeps(
  replies: readonly OtherReply[],
  answer: () => Answered,
  reportError: (words: string) => void,
) {
  const now = Date.now;
  const folder = mkdtempSync(join(tmpdir(), 'modelport-mutations-'));
  const store = await openStore({ dataDir: folder });
  await store.migrate();
  const ledger = createLedger({ store, owner: newId('owner_'), now });
  const access = createAccess({ store });
  await applyCatalogue(store, catalogueFor(replies), now());
  const catalog = createCatalog({ store });
  await catalog.reload();
  const { account, key } = await openAccount(store, now());
  await ledger.topUp(account, 10n ** 17n, { at: now() });
  const files = folderFiles(join(folder, 'files'));
  const shared = {
    access,
    // A target is used again even after many failures.
    catalog: { ...catalog, observe() {}, another: () => undefined },
    ledger,
    transport: transportTo(answer),
    guard: {
      check() {},
      fetch: async () => ({ bytes: PNG, contentType: 'image/png' }),
      post: () => Promise.reject(new Error('no webhook in this test')),
    },
    provider: providerOf,
    signing: { now, token: () => Promise.resolve('token') },
    now,
    random: () => 0.5,
    events: createEvents([], (thrown) => reportError(String(thrown))),
    // Faults of a provider are reported to the operator too, and ignored here.
    reportError(sentence: string, cause: unknown) {
      if (isOurs(cause)) reportError(`${sentence} ${Bun.inspect(cause)}`);
    },
  };
  const gateway = createGateway({
    ...shared,
    memory: createMemory(store.kept, { responsesMs: 1000, signaturesMs: 1000 }),
    imageStore: createImageStore(files, { publicUrl: 'http://here.test', keepMs: HOUR_MS, now }),
    dialect: (name: string) => providerDialectNamed(name)!,
    countTexts: () => Promise.resolve(0),
    settings: SETTINGS,
  } as unknown as GatewayDeps);
  const tasks = {
    ...shared,
    store,
    files,
    settings: { defaultModel: undefined, taskMs: HOUR_MS, pollMs: 0, keepMs: HOUR_MS, maxResultBytes: 1e8 },
    worker: 'here',
    inHand: new Set(),
    processStatusOf: () => 'unknown',
  } as unknown as TaskDeps;
  const caller = await access.authenticate({ key, address: '127.0.0.1' }, now());
  const close = async () => {
    await ledger.flush();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { gateway, tasks, caller, key, close };
}

const SETTINGS = {
  limits: { connectMs: HOUR_MS, headersMs: HOUR_MS, firstTokenMs: HOUR_MS, silenceMs: HOUR_MS, wholeMs: HOUR_MS },
  keepAliveMs: HOUR_MS,
  drainAfterDisconnectMs: HOUR_MS,
  maxRequestBytes: 1e8,
  maxReplyBytes: 1e8,
  maxImages: 10,
  maxMediaBytes: 1e8,
};
