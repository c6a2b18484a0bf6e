/** Calls over plain HTTP, for tests of exact bytes; and what all failed responses have in common. */
import { expect } from 'bun:test';
import { chatRequest } from '../helpers/chat-answers.ts';
import { costOf, nanoCost, type Stage } from '../helpers/scene.ts';

/** Short enough that a test can wait for each, longer than a process of a busy machine may have to wait for a processor. */
export const LIMITS = { connectMs: 1800, headersMs: 2500, firstTokenMs: 2000, silenceMs: 1800, wholeMs: 6000 };

export const LIMIT_SETTINGS = {
  MODELPORT_CONNECT_TIMEOUT_MS: String(LIMITS.connectMs),
  MODELPORT_HEADERS_TIMEOUT_MS: String(LIMITS.headersMs),
  MODELPORT_FIRST_TOKEN_TIMEOUT_MS: String(LIMITS.firstTokenMs),
  MODELPORT_SILENCE_TIMEOUT_MS: String(LIMITS.silenceMs),
  MODELPORT_WHOLE_TIMEOUT_MS: String(LIMITS.wholeMs),
};

/** Texts of a stream with multibyte characters. */
export const TEXTS = ['Grüße ', 'aus ', '日本'];

/** Streams one call and returns what the client received. */
export async function streamed(stage: Stage): Promise<{ status: number; text: string; headers: Headers; ms: number }> {
  const started = performance.now();
  const request = chatRequest(stage.model, { stream: true, stream_options: { include_usage: true } });
  const response = await stage.post('/v1/chat/completions', request);
  const text = await response.text();
  return { status: response.status, text, headers: response.headers, ms: performance.now() - started };
}

export async function whole(stage: Stage): Promise<{ status: number; body: ErrorBody; headers: Headers; ms: number }> {
  const started = performance.now();
  const response = await stage.post('/v1/chat/completions', chatRequest(stage.model));
  const body = (await response.json()) as ErrorBody;
  return { status: response.status, body, headers: response.headers, ms: performance.now() - started };
}
export type ErrorBody = { error?: { message: string; type: string; code: string; param: string | null } };

/** An error must contain nothing internal or of the provider. */
export function assertPublic(text: string): void {
  expect(text).not.toMatch(/127\.0\.0\.1|sk-upstream|<html|at .*\.ts:\d+/);
}

export function assertBroken(text: string, code: string): void {
  const events = text.split('\n\n').filter((event) => event.startsWith('data: '));
  const last = JSON.parse(events.at(-1)?.slice(6) ?? '{}') as ErrorBody;
  expect(last.error?.code).toBe(code);
  expect(text).not.toContain('[DONE]');
  expect(text).not.toMatch(/"finish_reason":\s*"/);
  assertPublic(text);
}

/** Charged for the input and the delivered output, not for what the upstream never sent. */
export async function assertPartial(stage: Stage, errorCode: string): Promise<void> {
  const call = await stage.settledCall();
  expect(call).toMatchObject({ outcome: 'broken', errorCode });
  expect(call.usage?.source).toBe('counted');
  expect(call.usage?.input).toBeGreaterThan(0);
  expect(call.usage?.output).toBeGreaterThan(0);
  expect(nanoCost(call)).toBe(costOf(call.usage ?? { input: 0, output: 0 }));
}
