import { describe, expect, test } from 'bun:test';
import { chatRequest } from '../../../test/helpers/chat-answers.ts';
import { forTests } from '../../../test/helpers/for-tests.ts';
import { type CaseSetup, startGatewayBench } from '../../../test/helpers/gateway-bench.ts';
import { GatewayError } from '../../canonical/errors.ts';
import type { Outgoing } from '../../providers/outgoing.ts';
import { admit } from '../admit/admit.ts';
import type { CallContext } from '../call-context.ts';
import { TargetCall } from '../prepare/steps.ts';
import { routeTo } from '../target-route.ts';
import { buildRequest } from './send.ts';

const bench = forTests(startGatewayBench, (started) => started.close());

interface Built {
  context: CallContext;
  prepared: TargetCall;
  body: Buffer;
  build(): Outgoing | Promise<Outgoing>;
}

async function built(
  more: { [member: string]: unknown } = {},
  { dialect = 'openai-chat', strict = false, ...setup }: CaseSetup & { dialect?: string; strict?: boolean } = {},
): Promise<Built> {
  const at = await bench.open(setup);
  const headers = { 'anthropic-version': '2023-06-01' };
  const pendingCall = { ...at.pendingCall(chatRequest(at.model, more), dialect, headers), strict };
  const context = await admit(at.deps, pendingCall, at.underWay);
  const [target] = context.route.targets;
  if (!target) throw new Error('The model has no target.');
  const route = routeTo(at.deps, context.call, context.dialect, target, context.model);
  const prepared = new TargetCall(at.deps, context, route);
  const body = Buffer.from(context.call.origin.body);
  return { context, prepared, body, build: () => buildRequest(prepared, prepared.call) };
}

const sent = async (request: Outgoing | Promise<Outgoing>) => {
  const { body } = await request;
  return JSON.parse(Buffer.from(body ?? []).toString());
};

describe('the body', () => {
  test('is the client’s own bytes with the target’s model, if the formats are the same', async () => {
    const at = await built({ unknown_member: { kept: true }, temperature: 0.5 });
    expect(await sent(at.build())).toEqual({ ...JSON.parse(at.body.toString()), model: 'upstream' });
  });

  test('is written from the call if a step has replaced it', async () => {
    const at = await built({ temperature: 0.5 });
    at.prepared.call = { ...at.prepared.call };
    expect(await sent(at.build())).toMatchObject({ model: 'upstream', temperature: 0.5 });
    if (at.prepared.call.kind === 'chat') at.prepared.call.sampling = { temperature: 1 };
    expect(await sent(at.build())).toMatchObject({ temperature: 1 });
  });

  test('is a translation if the formats differ', async () => {
    const at = await built({ max_tokens: 10, stop_sequences: ['x'] }, { dialect: 'anthropic-messages' });
    expect(await sent(at.build())).toMatchObject({ model: 'upstream', max_tokens: 10, stop: ['x'] });
  });
});

test('the request is signed and names the gateway; the client’s own headers are sent only to a target of its format', async () => {
  const same = await built();
  same.context.call.headers = { 'openai-beta': 'x=1' };
  expect((await same.build()).headers).toMatchObject({
    authorization: 'Bearer sk-secret-0',
    'user-agent': 'modelport',
    'openai-beta': 'x=1',
  });
  const other = await built({ max_tokens: 10 }, { dialect: 'anthropic-messages' });
  other.context.call.headers = { 'anthropic-beta': 'x' };
  expect(Object.keys((await other.build()).headers)).not.toContain('anthropic-beta');
});

test('members that steps, reading and writing leave out are in the warnings; a strict caller is refused', async () => {
  const members = { max_tokens: 10, top_k: 5 };
  const at = await built(members, { dialect: 'anthropic-messages' });
  at.prepared.losses = ['A step left this out.'];
  at.build();
  expect(at.context.warnings[0]).toBe('A step left this out.');
  expect(at.context.warnings[1]).toContain('`top_k`');
  const strict = await built(members, { dialect: 'anthropic-messages', strict: true });
  expect(() => strict.build()).toThrow(GatewayError);
  expect(() => strict.build()).toThrow('`top_k`');
});
