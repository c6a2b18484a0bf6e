/** Runs calls up to the transport: what would be sent, and what is held for it. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Access, type Caller, createAccess } from '../../src/access/access.ts';
import { issueKey } from '../../src/access/key.ts';
import { UNCOUNTED } from '../../src/access/work-bounds.ts';
import type { Call, Kind } from '../../src/canonical/call.ts';
import { GatewayError } from '../../src/canonical/errors.ts';
import { newId } from '../../src/canonical/id.ts';
import { PlacedSet } from '../../src/canonical/placed-set.ts';
import { applyCatalogue } from '../../src/catalog/apply.ts';
import { createCatalog } from '../../src/catalog/catalog.ts';
import { createMemory } from '../../src/conversations/conversations.ts';
import type { Dialect } from '../../src/dialects/dialect.ts';
import { dialectNamed, providerDialectNamed } from '../../src/dialects/index.ts';
import type { Form } from '../../src/dialects/wire/multipart.ts';
import { admit } from '../../src/gateway/admit/admit.ts';
import { attempt } from '../../src/gateway/attempt/attempt.ts';
import type { GatewayDeps } from '../../src/gateway/gateway-deps.ts';
import type { HoldRequest } from '../../src/ledger/ledger.ts';
import { createLedger } from '../../src/ledger/prepaid-ledger.ts';
import { PROVIDERS, providerOf } from '../../src/providers/index.ts';
import type { Outgoing } from '../../src/providers/outgoing.ts';
import { openStore } from '../../src/store/open-store.ts';
import { CallTrace, createEvents } from '../../src/telemetry/events.ts';

const CREDENTIALS: { readonly [type: string]: string } = {
  bedrock: 'AKIA:secret',
  'bedrock-mantle': 'AKIA:secret',
  vertex: 'AIza-key',
};

/** A model at a provider of this type. */
export type Target = readonly [type: string, kind: Kind, upstreamModel: string];

export const modelOf = ([type, kind, upstreamModel]: Target) =>
  `${type}-${kind}-${upstreamModel}`.replace(/[^\w-]/g, '_');

export interface OutgoingCalls {
  /** The bodies that the last call would have sent, a form as an object of its fields; empty if it was refused. */
  sent: string[];
  /** The hold in nano-USD. */
  held: bigint;
  /** The gateway's error, if the last call was refused before anything was sent. */
  refused: GatewayError | undefined;
  /** `model`: its catalogue name. A form has no body. */
  run(format: string, model: string, request: { text: string } | { form: Form }): Promise<void>;
  close(): Promise<void>;
}

/** `models`: members of each kind's models in the catalogue, including prices. */
export async function startOutgoing(
  targets: readonly Target[],
  members: { readonly [kind in Kind]?: object },
  unpricedExtras: 'refuse' | 'tools' | 'allow' = 'refuse',
): Promise<OutgoingCalls> {
  const calls: OutgoingCalls = {
    sent: [],
    held: 0n,
    refused: undefined,
    async run(format, model, request) {
      calls.sent = [];
      calls.held = 0n;
      calls.refused = undefined;
      const error = await run(deps, caller, format, model, request);
      if (calls.sent.length === 0) calls.refused = error;
    },
    async close() {
      await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
  const folder = await mkdtemp(join(tmpdir(), 'modelport-money-'));
  const store = await openStore({ dataDir: folder });
  await store.migrate();
  const now = Date.now;
  const ledger = createLedger({ store, owner: newId('owner_'), now });
  const access: Access = createAccess({ store });
  const providers: object[] = [];
  const models: object[] = [];
  for (const { name: type } of PROVIDERS.values()) {
    const settings = { region: 'us-east-1', project: 'p', location: 'global' };
    const baseUrl = 'http://upstream.test/v1';
    providers.push({ name: type, type, baseUrl, credential: CREDENTIALS[type] ?? 'key', settings });
  }
  for (const target of targets) {
    const [type, kind, model] = target;
    models.push({ name: modelOf(target), kind, ...members[kind], targets: [{ provider: type, model }] });
  }
  await applyCatalogue(store, { providers, models }, Date.now());
  const catalog = createCatalog({ store });
  await catalog.reload();
  const account = newId('acct_');
  await store.createAccount({ id: account, name: 'default', balance: 0n, held: 0n, createdAt: Date.now() });
  await ledger.topUp(account, 10n ** 15n, { at: Date.now() });
  const { key, hash, last4 } = issueKey('caller');
  await store.createKey({ id: newId('key_'), account, kind: 'caller', name: 't', hash, last4, createdAt: Date.now() });
  const caller = await access.authenticate({ key, address: '127.0.0.1' }, Date.now());
  const deps = {
    access,
    catalog,
    ledger: {
      ...ledger,
      hold(request: HoldRequest) {
        calls.held = request.amount;
        return ledger.hold(request);
      },
    },
    memory: createMemory(store.kept, { responsesMs: 1000, signaturesMs: 1000 }),
    transport: {
      async send(outgoing: Outgoing) {
        calls.sent.push(await textOf(outgoing));
        throw new GatewayError('upstream_refused', 'Not here.', { retryable: false });
      },
    },
    guard: { check() {}, fetch: () => Promise.reject(new Error('no fetch')), post: () => Promise.reject(new Error()) },
    imageStore: undefined,
    provider: providerOf,
    dialect: (name: string) => providerDialectNamed(name)!,
    signing: { now, token: () => Promise.resolve('token') },
    countTexts: () => Promise.resolve(0),
    settings: {
      limits: { connectMs: 1000, headersMs: 1000, firstTokenMs: 1000, silenceMs: 1000, wholeMs: 1000 },
      keepAliveMs: 1000,
      drainAfterDisconnectMs: 1000,
      maxRequestBytes: 1e6,
      maxReplyBytes: 1e6,
      maxImages: 10,
      unpricedExtras,
      maxMediaBytes: 1e6,
    } as GatewayDeps['settings'],
    now,
    random: () => 0.5,
    events: createEvents([], () => {}),
    reportError() {},
  } as unknown as GatewayDeps;
  return calls;
}

async function run(
  deps: GatewayDeps,
  caller: Caller,
  format: string,
  model: string,
  request: { text: string } | { form: Form },
): Promise<GatewayError | undefined> {
  const dialect = dialectNamed(format) as Dialect<Call>;
  const isForm = 'form' in request;
  try {
    const call = dialect.readCall({
      body: isForm ? new Uint8Array() : Buffer.from(request.text),
      headers: new Headers({
        'anthropic-version': '2023-06-01',
        ...(isForm && { 'content-type': 'multipart/form-data; boundary=x' }),
      }),
      path: { model, action: isForm ? 'transcriptions' : 'generateContent' },
      query: new URLSearchParams(),
      ...(isForm && { form: request.form }),
    });
    const at = Date.now();
    const id = newId('req_');
    const pendingCall = {
      id,
      at,
      startedMs: performance.now(),
      trace: new CallTrace(deps.events, id, at, format),
      dialect,
      caller,
      call,
      strict: false,
      load: UNCOUNTED,
    };
    await attempt(deps, await admit(deps, pendingCall, new PlacedSet()));
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    return thrown;
  } finally {
    await Bun.sleep(0);
  }
  return undefined;
}

async function textOf(outgoing: Outgoing): Promise<string> {
  if (outgoing.body) return Buffer.from(outgoing.body).toString();
  if (!outgoing.stream) return '{}';
  const chunks: Uint8Array[] = [];
  for await (const chunk of outgoing.stream.open()) chunks.push(chunk);
  // A form's fields as members.
  const fields = [
    ...Buffer.concat(chunks)
      .toString()
      .matchAll(/name="([^"]+)"\r\n\r\n([^\r]*)\r\n/g),
  ];
  return JSON.stringify(fields.map(([, name = '', value]) => ({ [name]: value })));
}
