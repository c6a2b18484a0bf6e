import { afterEach, expect, test } from 'bun:test';
import { ApiError, ask, OfflineError } from './client.ts';

const { fetch } = globalThis;
const { timeout } = AbortSignal;
afterEach(() => {
  Object.assign(globalThis, { fetch });
  Object.assign(AbortSignal, { timeout });
});

/** Asks a gateway that answers so, and gives what was thrown. */
async function thrownBy(answer: (init: RequestInit) => Response | Promise<Response>, method: 'GET' | 'POST') {
  Object.assign(globalThis, { fetch: async (_path: string, init: RequestInit) => answer(init) });
  return ask('/admin/v1/codes', { method }).catch((error: unknown) => error);
}

const broken = () => {
  const body = new ReadableStream({ pull: (controller) => controller.error(new TypeError('network error')) });
  return new Response(body);
};
const refused = () => Promise.reject(new TypeError('Failed to fetch'));

test('a change without an answer may have been made, a read has not', async () => {
  for (const answer of [refused, broken]) {
    const [read, change] = [await thrownBy(answer, 'GET'), await thrownBy(answer, 'POST')];
    expect(read).toBeInstanceOf(OfflineError);
    expect(read).toMatchObject({ isChange: false, isLate: false });
    expect(change).toMatchObject({ isChange: true, isLate: false });
  }
});

test('an answer that does not come ends the waiting', async () => {
  const asked: number[] = [];
  const late = new DOMException('late', 'TimeoutError');
  Object.assign(AbortSignal, {
    timeout: (ms: number) => {
      asked.push(ms);
      return AbortSignal.abort(late);
    },
  });
  const never = ({ signal }: RequestInit) => Promise.reject(signal?.reason);
  expect(await thrownBy(never, 'GET')).toMatchObject({ isLate: true, isChange: false });
  expect(await thrownBy(never, 'POST')).toMatchObject({ isLate: true, isChange: true });
  expect(asked).toEqual([30_000, 60_000]);
});

test('an answer of the gateway is no lost connection', async () => {
  const refusal = () => Response.json({ error: { message: 'No.', code: 'conflict' } }, { status: 409 });
  const error = await thrownBy(refusal, 'POST');
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ status: 409, code: 'conflict', message: 'No.' });
});
