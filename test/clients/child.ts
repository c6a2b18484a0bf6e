/** A child process that runs scenarios with official libraries: one JSON line in, one out. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { clientNode, clientsFolder, installClients } from './install.ts';

export interface ClientChild<Scenario, View> {
  /** Rejects if the child does not answer in time. */
  run(scenario: Scenario, withinMs?: number): Promise<View>;
  /** Ends the child. Throws if it had an unhandled rejection. */
  stop(): void;
}

/** For a client that hangs. Its first call loads its library, which took more than 30 s on a machine with ten programs for each processor. */
const ANSWER_TIMEOUT_MS = 120_000;
/** The maximum lifetime of a child. */
const MOST_MS = 900_000;
/** Disables telemetry and tracing of the libraries. */
export const NO_TELEMETRY = {
  DO_NOT_TRACK: '1',
  LANGCHAIN_TRACING_V2: 'false',
  LANGSMITH_TRACING: 'false',
  OPENAI_AGENTS_DISABLE_TRACING: '1',
  NEXT_TELEMETRY_DISABLED: '1',
  OTEL_SDK_DISABLED: 'true',
  LITELLM_LOCAL_MODEL_COST_MAP: 'True',
  LITELLM_LOG: 'ERROR',
};

/** Starts a script in this folder. */
export async function startChild<Scenario, View>(
  script: string,
  ...args: string[]
): Promise<ClientChild<Scenario, View>> {
  await installClients();
  return talkTo(clientNode(), [join(clientsFolder, script), ...args]);
}

/** Starts a program that answers each line with a line. */
export function talkTo<Scenario, View>(program: string, args: readonly string[]): ClientChild<Scenario, View> {
  const child = spawn(program, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    timeout: MOST_MS,
    env: { ...process.env, ...NO_TELEMETRY },
  });
  const waiting = new Map<number, (view: View) => void>();
  const unhandled: string[] = [];
  let last = 0;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, ...view } = JSON.parse(line) as View & { id: number | null; unhandled?: string };
    if (id === null) unhandled.push(view.unhandled ?? line);
    else waiting.get(id)?.(view as View);
  });
  return {
    run(scenario, withinMs = ANSWER_TIMEOUT_MS) {
      const id = ++last;
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiting.delete(id);
          reject(
            new Error(`the client did not answer within ${withinMs} ms: ${JSON.stringify(scenario).slice(0, 1000)}`),
          );
        }, withinMs);
        waiting.set(id, (view) => {
          clearTimeout(timer);
          waiting.delete(id);
          resolve(view);
        });
        child.stdin.write(`${JSON.stringify({ id, ...scenario })}\n`);
      });
    },
    stop() {
      child.kill();
      if (unhandled.length > 0) throw new Error(`the client saw unhandled rejections: ${unhandled.join('\n')}`);
    },
  };
}
