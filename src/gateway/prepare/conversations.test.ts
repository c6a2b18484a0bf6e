/** What a reply is kept as, and what a later call goes on from: `save-conversation` and `load-conversation`. */

import { describe, expect, test } from 'bun:test';
import { streamAnswer, wholeAnswer } from '../../../test/helpers/chat-answers.ts';
import { forTests } from '../../../test/helpers/for-tests.ts';
import { FakeSink, type GatewayCase, startGatewayBench } from '../../../test/helpers/gateway-bench.ts';
import type { ChatCall } from '../../canonical/call.ts';
import { GatewayError } from '../../canonical/errors.ts';
import type { Answer, ByteSource } from '../../http1/answer.ts';
import { loadConversation } from './load-conversation.ts';

const bench = forTests(startGatewayBench, (started) => started.close());

const FORMAT = 'openai-responses';
const ask = (at: GatewayCase, input: string, more: object = {}) =>
  at.serve({ model: at.model, input, ...more }, { dialect: FORMAT });
const idOf = ({ body }: Answer) => (JSON.parse(Buffer.from(body as Uint8Array).toString()) as { id: string }).id;
const isKept = async (at: GatewayCase, id: string) =>
  (await at.deps.memory.response(at.caller.account, id, at.deps.now())) !== undefined;

/** The call with what it goes on from. */
function recalled(at: GatewayCase, more: object, by = at): Promise<ChatCall> {
  const { call, caller, dialect } = by.pendingCall({ model: by.model, input: 'And then?', ...more }, FORMAT);
  return loadConversation(
    at.deps.memory,
    at.deps.settings.maxRequestBytes,
    dialect,
    call as ChatCall,
    caller,
    at.deps.now(),
  );
}

const textsOf = ({ messages }: ChatCall) =>
  messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])));

describe('a reply', () => {
  test('is stored under its id, and the next call continues it', async () => {
    const at = await bench.open();
    at.transport.script(wholeAnswer('Good day.'), wholeAnswer('I said it.'));
    const id = idOf(await ask(at, 'Hello'));
    expect(await isKept(at, id)).toBe(true);
    expect((await ask(at, 'Again', { previous_response_id: id })).status).toBe(200);
    expect(JSON.stringify(at.transport.sent[1]?.body)).toMatch(/Hello.*Good day\..*Again/);
  });

  test('with `store: false` is not stored', async () => {
    const at = await bench.open();
    at.transport.script(wholeAnswer('Good day.'));
    expect(await isKept(at, idOf(await ask(at, 'Hello', { store: false })))).toBe(false);
  });

  test('of a stream is stored before the client gets its end', async () => {
    const at = await bench.open();
    at.transport.script(streamAnswer(['Good ', 'day.']));
    const sink = new FakeSink();
    ((await ask(at, 'Hello', { stream: true })).body as ByteSource).start(sink);
    await sink.over;
    const id = /"id":"(resp_[^"]+)"/.exec(sink.text)?.[1] ?? '';
    expect(await isKept(at, id)).toBe(true);
    expect(textsOf(await recalled(at, { previous_response_id: id }))).toEqual(['Hello', 'Good day.', 'And then?']);
  });

  test('that cannot be stored is delivered all the same, with a warning to the client and an error to the operator', async () => {
    const at = await bench.open();
    at.deps.memory = { ...at.deps.memory, keep: () => Promise.reject(new Error('no database')) };
    at.transport.script(wholeAnswer('Good day.'));
    const answer = await ask(at, 'Hello');
    expect(answer.status).toBe(200);
    expect(answer.headers['x-modelport-warnings']).toContain('could not be');
    expect(at.troubles).toEqual(['What should have been kept of a call could not be.']);
  });

  test('whose client has disconnected is not stored', async () => {
    const at = await bench.open({ model: { onDisconnect: 'drain' } });
    const pending = ask(at, 'Hello');
    const request = await at.transport.next();
    at.client.leave();
    request.answer(wholeAnswer('Good day.'));
    expect(await isKept(at, idOf(await pending))).toBe(false);
  });
});

describe('the continued conversation', () => {
  const refusal = (recalling: Promise<unknown>) => recalling.catch((thrown: unknown) => thrown as GatewayError);

  test('is found only by its own account', async () => {
    const [at, other] = [await bench.open(), await bench.open()];
    at.transport.script(wholeAnswer('Good day.'));
    const previous = { previous_response_id: idOf(await ask(at, 'Hello')) };
    expect(textsOf(await recalled(at, previous))).toEqual(['Hello', 'Good day.', 'And then?']);
    const error = await refusal(recalled(at, previous, other));
    expect(error).toMatchObject({ code: 'not_found', param: 'previous_response_id' });
  });

  test('is no larger than a request may be', async () => {
    const at = await bench.open({ settings: { maxRequestBytes: 100 } });
    at.transport.script(wholeAnswer('Good day.'.repeat(20)));
    const error = await refusal(recalled(at, { previous_response_id: idOf(await ask(at, 'Hello')) }));
    expect(error).toMatchObject({ code: 'request_too_large', param: 'previous_response_id' });
    expect(error).toBeInstanceOf(GatewayError);
  });

  test('formats without stored responses continue nothing: the call is unchanged', async () => {
    const at = await bench.open();
    const { call, caller, dialect } = at.pendingCall({
      model: at.model,
      messages: [{ role: 'user', content: 'Hello' }],
    });
    expect(await loadConversation(at.deps.memory, 1000, dialect, call as ChatCall, caller, 0)).toBe(call as ChatCall);
  });
});
