/** A running gateway with the scripted upstream behind it; every test gets models, an account and money of its own. */
import { expect } from 'bun:test';
import {
  type CallView,
  type GatewayProcess,
  type GatewaySetup,
  startGateway,
  type TestCaller,
} from './gateway-process.ts';
import type { Answer } from './upstream/answer.ts';
import { type JournalEntry, type ScriptedUpstream, startScriptedUpstream } from './upstream/scripted-upstream.ts';

/** USD per million tokens: a token of input costs 1000 nano-USD. */
export const PRICE = { input: 1, cachedInput: 0.5, output: 4 };
const NANO_PER_TOKEN = { input: 1000n, cachedInput: 500n, output: 4000n };

export interface StageSetup {
  /** A provider of the providers table; `openai-compatible` unless given. */
  type?: string;
  /** What kind of model it is; `chat` unless given. */
  kind?: string;
  /** The provider's name of the model. */
  upstreamModel?: string;
  /** The public name. */
  model?: string;
  /** The key of all its providers, and what else they are told. */
  credential?: string;
  settings?: { [name: string]: string };
  /** How many targets the model has, in order; each has a queue of its own. */
  targets?: number;
  /** Instead of the scripted upstream. */
  baseUrls?: readonly string[];
  onDisconnect?: 'abort' | 'drain';
  /** `PRICE` unless given. */
  price?: { [component: string]: unknown };
  /** The model's window. */
  contextTokens?: number;
  /** What a reply may be long, in tokens; 1000 unless given. */
  maxOutputTokens?: number;
  /** Of images a call may ask for. */
  maxImages?: number;
  amount?: string;
}

/** What one test sees of the world: a model nobody else calls, and a key whose account nobody else spends. */
export interface Stage {
  readonly model: string;
  readonly caller: TestCaller;
  /** Where an official library is pointed to, and with what. */
  readonly at: { baseURL: string; apiKey: string };
  /** Appends answers to the queue of a target. */
  script(...answers: Answer[]): void;
  scriptTarget(target: number, ...answers: Answer[]): void;
  /** What arrived upstream, at all targets. */
  journal(): JournalEntry[];
  /** The calls on record once no money is held any more; proves that the balance is what they left. */
  settled(): Promise<CallView[]>;
  /** The one call, settled. */
  settledCall(): Promise<CallView>;
  post(path: string, body: unknown, signal?: AbortSignal): Promise<Response>;
}

export interface Scene {
  readonly gateway: GatewayProcess;
  readonly upstream: ScriptedUpstream;
  stage(setup?: StageSetup): Promise<Stage>;
  /** No open hold, a clean ledger, nothing unhandled in the log. */
  assertClean(): Promise<void>;
  /** `assertClean`, and the process ends well. */
  close(): Promise<void>;
}

/** The first count of a text waits for the tokenizer to be loaded, which takes seconds on a busy machine. */
const SETTLED_WITHIN_MS = 15_000;

export async function startScene(setup: GatewaySetup = {}): Promise<Scene> {
  const upstream = await startScriptedUpstream();
  const gateway = await startGateway(setup);
  let stages = 0;

  async function stage(options: StageSetup = {}): Promise<Stage> {
    const id = `s${++stages}`;
    const { type = 'openai-compatible', upstreamModel = 'upstream-model', model = `model-${id}` } = options;
    const prefixes = Array.from({ length: options.targets ?? 1 }, (_, index) => `/${id}/t${index}`);
    const baseUrls = options.baseUrls ?? prefixes.map((prefix) => `${upstream.url}${prefix}/v1`);
    const targets = baseUrls.map((_, index) => ({
      provider: `p-${id}-${index}`,
      model: upstreamModel,
      priority: index,
    }));
    for (const [index, baseUrl] of baseUrls.entries()) {
      const { credential = `sk-upstream-secret-${id}`, settings = {} } = options;
      const provider = { name: `p-${id}-${index}`, type, baseUrl, credential, settings };
      await gateway.admin('POST', '/providers', provider);
    }
    const { onDisconnect, contextTokens, maxImages } = options;
    const row = {
      name: model,
      kind: options.kind ?? 'chat',
      price: options.price ?? PRICE,
      maxOutputTokens: options.maxOutputTokens ?? 1000,
      targets,
    };
    await gateway.admin('POST', '/models', {
      ...row,
      ...(onDisconnect && { onDisconnect }),
      ...(contextTokens !== undefined && { contextTokens }),
      ...(maxImages !== undefined && { maxImages }),
    });
    const amount = options.amount ?? '10.00';
    const caller = await gateway.newCaller(amount);
    const settled = () => settledCalls(gateway, caller, amount);
    return {
      model,
      caller,
      at: { baseURL: `${gateway.url}/v1`, apiKey: caller.key },
      script: (...answers) => upstream.script(`/${id}/t0/`, ...answers),
      scriptTarget: (target, ...answers) => upstream.script(`/${id}/t${target}/`, ...answers),
      journal: () => upstream.journal(`/${id}/`),
      settled,
      async settledCall() {
        const calls = await settled();
        expect(calls).toHaveLength(1);
        return calls[0]!;
      },
      post: (path, body, signal) =>
        fetch(`${gateway.url}${path}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${caller.key}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
          ...(signal && { signal }),
        }),
    };
  }

  async function assertClean(): Promise<void> {
    expect(await gateway.verify()).toMatchObject({ ok: true, holds: 0 });
    const troubles = gateway
      .log()
      .split('\n')
      .filter((line) => /unhandled|uncaught|could not be settled/i.test(line));
    expect(troubles).toEqual([]);
  }
  return {
    gateway,
    upstream,
    stage,
    assertClean,
    async close() {
      try {
        await assertClean();
      } finally {
        const code = await gateway.stop();
        await upstream.close();
        expect(code).toBe(0);
      }
    },
  };
}

async function settledCalls(gateway: GatewayProcess, caller: TestCaller, amount: string): Promise<CallView[]> {
  const deadline = Date.now() + SETTLED_WITHIN_MS;
  let balance = await gateway.balance(caller);
  while (balance.held !== '0' && Date.now() < deadline) {
    await Bun.sleep(20);
    balance = await gateway.balance(caller);
  }
  expect(balance.held).toBe('0');
  const calls = await gateway.calls(caller);
  const spent = calls.reduce((sum, call) => sum + nanoOf(call.cost), 0n);
  expect(nanoOf(balance.available)).toBe(nanoOf(amount) - spent);
  return calls.reverse();
}

/** A decimal string of USD in nano-USD. */
export function nanoOf(usd: string): bigint {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d{1,9}))?$/.exec(usd) ?? [];
  if (whole === '') throw new Error(`${usd} is no amount`);
  return BigInt(`${sign}${whole}${fraction.padEnd(9, '0')}`);
}

/** What so many tokens cost at `PRICE`. */
export function costOf(tokens: { input: number; output: number; cachedInput?: number }): bigint {
  const cached = BigInt(tokens.cachedInput ?? 0);
  return (
    (BigInt(tokens.input) - cached) * NANO_PER_TOKEN.input +
    cached * NANO_PER_TOKEN.cachedInput +
    BigInt(tokens.output) * NANO_PER_TOKEN.output
  );
}

export const nanoCost = (call: CallView): bigint => nanoOf(call.cost);
