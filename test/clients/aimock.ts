/** Starts aimock, an independent mock upstream, with its fault injection, in a separate process; and answers for chat. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../helpers/free-port.ts';
import { clientNode, clientsFolder, installClients } from './install.ts';

/** What aimock does to every request: an answer 500, no JSON, a connection that ends in mid-answer, 429. */
export type AimockFault = 'drop' | 'malformed' | 'disconnect' | 'rateLimit';

export interface Aimock {
  readonly url: string;
  /** The number of requests so far. */
  requests(): Promise<number>;
  /** From now on every request has this fault; `undefined`: none has. */
  setFault(fault: AimockFault | undefined): Promise<void>;
  stop(): Promise<void>;
}

/** Two with the same fixtures. */
export interface Aimocks {
  /** Without faults. */
  readonly calm: Aimock;
  /** With random faults. */
  readonly wild: Aimock;
  stop(): Promise<void>;
}

const STARTED_WITHIN_MS = 60_000;
const CHAOS = 0.12;

export const CHAT_TEXT = 'Hello from aimock, with some words to stream.';
/** A tool call for the weather, a text for its result, and `CHAT_TEXT` for everything else. */
export const CHAT_FIXTURES = [
  {
    match: { userMessage: 'weather', hasToolResult: false },
    response: { toolCalls: [{ id: 'call_1', name: 'get_weather', arguments: { city: 'Oslo' } }] },
  },
  { match: { userMessage: 'weather', hasToolResult: true }, response: { content: 'It is sunny in Oslo.' } },
  { match: {}, response: { content: CHAT_TEXT } },
];

export async function startAimocks(fixtures: readonly object[]): Promise<Aimocks> {
  const [calm, wild] = await Promise.all([startAimock(fixtures, 0), startAimock(fixtures, CHAOS)]);
  return {
    calm,
    wild,
    async stop() {
      await Promise.all([calm.stop(), wild.stop()]);
    },
  };
}

/** `chaos`: the probability of each fault: dropped, malformed, disconnected, rate limited. */
export async function startAimock(fixtures: readonly object[], chaos: number): Promise<Aimock> {
  await installClients();
  const folder = mkdtempSync(join(tmpdir(), 'modelport-aimock-'));
  writeFileSync(join(folder, 'fixtures.json'), JSON.stringify({ fixtures }));
  const port = await freePort();
  const program = join(clientsFolder, 'node_modules', '@copilotkit', 'aimock', 'dist', 'cli.js');
  const rates = ['drop', 'malformed', 'disconnect', 'ratelimit'].flatMap((kind) => [`--chaos-${kind}`, String(chaos)]);
  const options = ['--port', String(port), '--host', '127.0.0.1', '--fixtures', folder, '--log-level', 'silent'];
  const child = spawn(clientNode(), [program, ...options, ...rates], { stdio: ['ignore', 'ignore', 'inherit'] });
  const exited = new Promise<void>((resolve) => child.on('close', () => resolve()));
  const url = `http://127.0.0.1:${port}`;
  const deadline = Date.now() + STARTED_WITHIN_MS;
  while (!(await fetch(`${url}/__aimock/journal`).catch(() => undefined))?.ok) {
    if (Date.now() > deadline) throw new Error('aimock did not start');
    await Bun.sleep(50);
  }
  return {
    url,
    async requests() {
      const journal = (await (await fetch(`${url}/__aimock/journal`)).json()) as readonly unknown[];
      return journal.length;
    },
    async setFault(fault) {
      const answer = await fetch(`${url}/__aimock/chaos`, {
        method: 'POST',
        body: JSON.stringify(fault ? { [`${fault}Rate`]: 1 } : {}),
      });
      if (!answer.ok) throw new Error(`aimock did not take the fault: ${await answer.text()}`);
    },
    async stop() {
      child.kill();
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
