/** A running gateway with a scripted upstream. Every test gets its own models, account and money. */
import { expect } from 'bun:test';
import type { Answer } from '../upstream/answer.ts';
import { type JournalEntry, type ScriptedUpstream, startScriptedUpstream } from '../upstream/scripted-upstream.ts';
import {
  type CallView,
  type GatewayProcess,
  type GatewaySetup,
  startGateway,
  type TestCaller,
} from './gateway-process.ts';

/** USD per million tokens: an input token costs 1000 nano-USD. */
export const PRICE = { input: 1, cachedInput: 0.5, output: 4 };
const NANO_PER_TOKEN = { input: 1000n, cachedInput: 500n, output: 4000n };

export interface StageSetup {
  /** A provider type; `openai-compatible` by default. */
  type?: string;
  /** The kind of the model; `chat` by default. */
  kind?: string;
  /** The provider's name of the model. */
  upstreamModel?: string;
  /** The public name. */
  model?: string;
  /** The credential of all its providers, and their other members. */
  credential?: string;
  settings?: { [name: string]: string };
  /** The number of targets, in order; each has its own queue of answers. */
  targets?: number;
  /** Instead of the scripted upstream. */
  baseUrls?: readonly string[];
  onDisconnect?: 'abort' | 'drain';
  /** `PRICE` by default. */
  price?: { [component: string]: unknown };
  /** Tries more at the same target; none by default, so that each scripted answer is one attempt. */
  retries?: number;
  /** The context window. */
  contextTokens?: number;
  /** The token limit of a reply; 1000 by default. */
  maxOutputTokens?: number;
  /** The maximum of images per call. */
  maxImages?: number;
  /** Further members of the model's row. */
  members?: { [member: string]: unknown };
  amount?: string;
}

/** The environment of one test: a model and a key of its own. */
export interface Stage {
  readonly model: string;
  readonly caller: TestCaller;
  /** The base URL and key for an official library. */
  readonly at: { baseURL: string; apiKey: string };
  /** Appends answers to the queue of a target. */
  script(...answers: Answer[]): void;
  scriptTarget(target: number, ...answers: Answer[]): void;
  /** Requests received upstream, by all targets. */
  journal(): JournalEntry[];
  /** Waits until the first request upstream has ended, and checks that the gateway aborted it. */
  upstreamAborted(): Promise<void>;
  /** The recorded calls once nothing is held any more. Checks that they explain the balance. */
  settled(): Promise<CallView[]>;
  /** The one call, settled. */
  settledCall(): Promise<CallView>;
  post(path: string, body: unknown, signal?: AbortSignal): Promise<Response>;
  /** The same model with a new account and key: a new model takes 10 ms of processor time. After calls that did not fail. */
  again(): Promise<Stage>;
}

export interface Scene {
  readonly gateway: GatewayProcess;
  readonly upstream: ScriptedUpstream;
  stage(setup?: StageSetup): Promise<Stage>;
  /** Checks that there are no open holds, no ledger faults, and no unhandled errors in the log. */
  assertClean(): Promise<void>;
  /** `assertClean`, and checks that the process ends normally. */
  close(): Promise<void>;
}

/** The first token count waits for the tokenizer, which takes seconds to load on a busy machine. */
const SETTLED_WITHIN_MS = 45_000;

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
    const { credential = `sk-upstream-secret-${id}`, settings = {} } = options;
    const providers = baseUrls.map((baseUrl, index) => ({
      name: `p-${id}-${index}`,
      type,
      baseUrl,
      credential,
      settings,
    }));
    const { onDisconnect, contextTokens, maxImages } = options;
    const row = {
      name: model,
      kind: options.kind ?? 'chat',
      price: options.price ?? PRICE,
      maxOutputTokens: options.maxOutputTokens ?? 1000,
      retries: options.retries ?? 0,
      targets,
      ...(onDisconnect && { onDisconnect }),
      ...(contextTokens !== undefined && { contextTokens }),
      ...(maxImages !== undefined && { maxImages }),
      ...options.members,
    };
    const amount = options.amount ?? '10.00';
    const [caller] = await Promise.all([
      gateway.newCaller(amount),
      gateway.admin('POST', `/apply?file=${id}`, { providers, models: [row] }),
    ]);
    return stageOf(id, model, caller, amount);
  }

  function stageOf(id: string, model: string, caller: TestCaller, amount: string): Stage {
    const settled = () => settledCalls(gateway, caller, amount);
    const all = () => upstream.journal(`/${id}/`);
    const before = all().length;
    const journal = () => all().slice(before);
    return {
      model,
      caller,
      at: { baseURL: `${gateway.url}/v1`, apiKey: caller.key },
      script: (...answers) => upstream.script(`/${id}/t0/`, ...answers),
      scriptTarget: (target, ...answers) => upstream.script(`/${id}/t${target}/`, ...answers),
      journal,
      upstreamAborted: () => firstAborted(journal),
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
      again: async () => stageOf(id, model, await gateway.newCaller(amount), amount),
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

async function firstAborted(journal: Stage['journal']): Promise<void> {
  const deadline = performance.now() + 45_000;
  while (!journal()[0]?.endedMs && performance.now() < deadline) await Bun.sleep(10);
  expect(journal()[0]?.aborted).toBe(true);
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

/** Converts a decimal string of USD to nano-USD. */
export function nanoOf(usd: string): bigint {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d{1,9}))?$/.exec(usd) ?? [];
  if (whole === '') throw new Error(`${usd} is no amount`);
  return BigInt(`${sign}${whole}${fraction.padEnd(9, '0')}`);
}

/** The cost of these tokens at `PRICE`. */
export function costOf(tokens: { input: number; output: number; cachedInput?: number }): bigint {
  const cached = BigInt(tokens.cachedInput ?? 0);
  return (
    (BigInt(tokens.input) - cached) * NANO_PER_TOKEN.input +
    cached * NANO_PER_TOKEN.cachedInput +
    BigInt(tokens.output) * NANO_PER_TOKEN.output
  );
}

export const nanoCost = (call: CallView): bigint => nanoOf(call.cost);
