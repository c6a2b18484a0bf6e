/** Providers with false usage reports: charge, response, log, metrics and limits use one figure, and the operator decides. */
import { describe, expect, test } from 'bun:test';
import { chatRequest, streamAnswer, wholeAnswer } from '../helpers/chat-answers.ts';
import { spawnModelport } from '../helpers/gateway-process.ts';
import { PROVIDERS } from '../helpers/provider-answers.ts';
import { nanoCost, nanoOf, type Stage } from '../helpers/scene.ts';
import { useScene } from '../helpers/scene-hooks.ts';
import type { Answer } from '../upstream/answer.ts';

const scene = useScene();

const TEXT = 'A short reply of some words.';
/** USD: 100 output tokens at 4 USD per million, and the estimated input. */
const OUTPUT = 100;

/** The reply with this usage, with figures written as given. */
function answer(stream: boolean, usage: object): Answer {
  const figures = JSON.stringify(usage).replaceAll('"1e999"', '1e999');
  if (!stream) {
    const { json } = wholeAnswer(TEXT) as { json: object };
    const text = JSON.stringify({ ...json, usage: 'USAGE' }).replace('"USAGE"', figures);
    return { text, headers: { 'content-type': 'application/json' } };
  }
  const events = [...(streamAnswer([TEXT]).events ?? [])];
  const last = JSON.stringify({ ...(events.at(-1) as object), usage: 'USAGE' }).replace('"USAGE"', figures);
  return { events: [...events.slice(0, -1), `data: ${last}\n\n`] };
}

async function called(stage: Stage, stream: boolean, usage: object, key = stage.caller.key) {
  stage.script(answer(stream, usage));
  const response = await fetch(`${scene.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(
      chatRequest(stage.model, {
        stream,
        max_tokens: OUTPUT,
        ...(stream && { stream_options: { include_usage: true } }),
      }),
    ),
  });
  return { status: response.status, headers: response.headers, body: await response.text() };
}

interface CallRow {
  id: string;
  cost: string;
  outcome: string;
  usage: { input: number; output: number; source: string; claimed?: { cost: string; usage: object } };
  dispute?: { claimed: string; charged: string; decision?: string };
}
const rowOf = async (stage: Stage): Promise<CallRow> => {
  const { id } = await stage.settledCall();
  return scene.gateway.admin<CallRow>('GET', `/calls/${id}`);
};

/** Waits for a line of the log, which is written in batches. */
async function logged(is: (line: string) => boolean): Promise<void> {
  for (const end = performance.now() + 30_000; performance.now() < end; await Bun.sleep(10)) {
    if (scene.gateway.log().split('\n').some(is)) return;
  }
  throw new Error('the log has no such line');
}

async function metricOf(name: string, stage: Stage): Promise<string | undefined> {
  const headers = { authorization: `Bearer ${scene.gateway.adminKey}` };
  const text = await (await fetch(`${scene.gateway.url}/metrics`, { headers })).text();
  return text.split('\n').find((line) => line.startsWith(`modelport_${name}`) && line.includes(`"${stage.model}"`));
}

describe.each([false, true])('stream: %p', (stream) => {
  test.each<[string, object]>([
    ['a billion of output', { prompt_tokens: 11, completion_tokens: 1_772_656_915, total_tokens: 1_772_656_926 }],
    ['a billion of input', { prompt_tokens: 1e9, completion_tokens: 7, total_tokens: 1e9 + 7 }],
    ['more than ten million USD', { prompt_tokens: 11, completion_tokens: 9e15, total_tokens: 9e15 }],
    [
      'a total beside its reasoning',
      {
        prompt_tokens: 11,
        completion_tokens: 7,
        total_tokens: 1e12 + 18,
        completion_tokens_details: { reasoning_tokens: 1e12 },
      },
    ],
  ])('%s is disputed: the hold is charged, and all records agree', async (_, usage) => {
    const stage = await scene.stage();
    const { status, headers, body } = await called(stage, stream, usage);
    expect(status).toBe(200);
    expect(body).toContain('short reply');
    const row = await rowOf(stage);
    const hold = BigInt(OUTPUT) * 4000n;
    expect(row).toMatchObject({ outcome: 'disputed', usage: { source: 'counted' } });
    expect(nanoOf(row.cost)).toBeGreaterThan(hold);
    expect(nanoOf(row.cost)).toBeLessThan(hold + 1_000_000n);
    expect(row.usage.output).toBeLessThan(20);
    expect(row.dispute).toEqual({ claimed: row.usage.claimed?.cost ?? '', charged: row.cost });
    expect(nanoOf(row.dispute?.claimed ?? '')).toBeGreaterThan(10n ** 11n);
    if (!stream) expect(headers.get('x-modelport-cost')).toBe(row.cost);
    // The reply contains the recorded figures and nothing of the claim.
    expect(body).toContain(`"prompt_tokens":${row.usage.input},`);
    expect(body).toContain(`"completion_tokens":${row.usage.output},`);
    expect(body).not.toMatch(/"[a-z_]*tokens":\d{5,}/);
    expect(await metricOf('charged_usd_total', stage)).toEndWith(` ${Number(row.cost)}`);
    expect(await metricOf('disputed_calls_total', stage)).toEndWith(' 1');
    await logged(
      (line) => line.includes(row.id) && line.includes('"level":40') && line.includes(`"charged":"${row.cost}"`),
    );
    await logged((line) => line.includes('"outcome":"disputed"') && line.includes(`"cost":"${row.cost}"`));
    const listed = await scene.gateway.admin<{ data: CallRow[] }>('GET', '/calls?outcome=disputed&limit=1000');
    expect(listed.data.map(({ id }) => id)).toContain(row.id);
    expect(listed.data.every(({ outcome }) => outcome === 'disputed')).toBe(true);
  });

  test.each<[string, object]>([
    ['1e999', { prompt_tokens: 11, completion_tokens: '1e999', total_tokens: 18 }],
    ['1e308', { prompt_tokens: 11, completion_tokens: 1e308, total_tokens: 1e308 }],
    ['below zero', { prompt_tokens: -5, completion_tokens: -7, total_tokens: -12 }],
    ['a text', { prompt_tokens: '11', completion_tokens: '7', total_tokens: '18' }],
  ])('%s is not a valid report: the text is counted, and the client does not get that figure', async (_, usage) => {
    const stage = await scene.stage();
    const { body } = await called(stage, stream, usage);
    // A client that gets figures gets the gateway's own.
    for (const [, count] of body.matchAll(/"(?:prompt|completion|total)_tokens":([^,}]*)/g)) {
      expect(Number.isSafeInteger(Number(count)) && !count?.includes('"')).toBe(true);
      expect(Number(count)).toBeGreaterThan(0);
      expect(Number(count)).toBeLessThan(200);
    }
    const call = await stage.settledCall();
    expect(call).toMatchObject({ outcome: 'ok', usage: { source: 'counted' } });
    expect(call.usage?.output).toBeGreaterThan(3);
    expect(call.usage?.output).toBeLessThan(20);
    expect(nanoCost(call)).toBeGreaterThan(0n);
  });

  test('a total of 1e12 with seven tokens counts as seven tokens, also for the client', async () => {
    const stage = await scene.stage();
    const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 1e12 };
    const { body } = await called(stage, stream, usage);
    expect(body).toContain('"completion_tokens":7');
    expect(nanoCost(await stage.settledCall())).toBe(11n * 1000n + 7n * 4000n);
  });
});

test.each([{ completion_tokens: '1e999' }, { completion_tokens: 1_772_656_915 }])(
  'a token limit counts what was delivered, whatever is claimed: %j',
  async (claim) => {
    const stage = await scene.stage();
    const { key } = await scene.gateway.admin<{ key: string }>('POST', '/keys', {
      account: stage.caller.account,
      name: 'limited',
      tokensPerMinute: 1000,
    });
    const statuses: number[] = [];
    for (let i = 0; i < 12; i++)
      statuses.push((await called(stage, false, { prompt_tokens: 11, ...claim }, key)).status);
    // Each call used what was sent and counted: neither nothing nor the claim.
    expect(statuses.slice(0, 3)).toEqual([200, 200, 200]);
    expect(statuses.at(-1)).toBe(429);
    await stage.settled();
  },
);

describe('the figures in a disputed reply are those of its record', () => {
  const asks = { chat: '/v1/chat/completions', messages: '/v1/messages', responses: '/v1/responses', gemini: '' };
  type Format = keyof typeof asks;
  const formats = Object.keys(asks) as Format[];
  const hello = [{ role: 'user', content: 'Hi' }];
  const bodies = (model: string, stream: boolean): { readonly [format in Format]: object } => ({
    chat: {
      model,
      messages: hello,
      max_tokens: OUTPUT,
      stream,
      ...(stream && { stream_options: { include_usage: true } }),
    },
    messages: { model, messages: hello, max_tokens: OUTPUT, stream },
    responses: { model, input: 'Hi', max_output_tokens: OUTPUT, stream },
    gemini: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }], generationConfig: { maxOutputTokens: OUTPUT } },
  });
  const tokens = { input: 11, cachedInput: 0, output: 1_772_656_915, reasoning: 0 };
  const cases = formats.flatMap((client) =>
    formats.flatMap((provider) => [false, true].map((stream) => [client, provider, stream] as const)),
  );

  test.each(cases)('%s from %s, stream: %p', async (client, provider, stream) => {
    const { type, upstreamModel, ...answers } = PROVIDERS[provider];
    const stage = await scene.stage({ type, upstreamModel });
    stage.script(answers[stream ? 'stream' : 'whole']({ texts: ['A short ', 'reply.'], tokens }));
    const action = stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
    const path = client === 'gemini' ? `/v1beta/models/${stage.model}:${action}` : asks[client];
    const authorization = `Bearer ${stage.caller.key}`;
    const response = await fetch(scene.gateway.url + path, {
      method: 'POST',
      headers: { authorization, 'anthropic-version': '2023-06-01', 'content-type': 'application/json' },
      body: JSON.stringify(bodies(stage.model, stream)[client]),
    });
    const body = await response.text();
    expect(response.status).toBe(200);
    expect(body).toContain('reply.');
    const row = await rowOf(stage);
    expect(row.outcome).toBe('disputed');
    const counts = [...body.matchAll(/"[A-Za-z_]*(?:tokens|TokenCount)":(\d+)/g)].map(([, count]) => Number(count));
    expect(counts).toContain(row.usage.output);
    expect(Math.max(...counts)).toBeLessThan(OUTPUT + row.usage.input);
    if (client !== 'responses') return;
    const id = /"id":"(resp_[^"]+)"/.exec(body)?.[1] ?? '';
    const kept = await fetch(`${scene.gateway.url}/v1/responses/${id}`, { headers: { authorization } });
    expect(await kept.json()).toMatchObject({ usage: { output_tokens: row.usage.output } });
  });
});

describe('the operator decides', () => {
  const CLAIM = { prompt_tokens: 11, completion_tokens: 1_000_000, total_tokens: 1_000_011 };
  const decide = (id: string, decision: string) =>
    scene.gateway.admin<{ kind: string; amount: string; seq: number }>('POST', `/calls/${id}/dispute`, { decision });
  const availableTo = async (stage: Stage) => nanoOf((await scene.gateway.balance(stage.caller)).available);

  async function disputed() {
    const stage = await scene.stage();
    await called(stage, false, CLAIM);
    return { stage, row: await rowOf(stage), before: await availableTo(stage) };
  }

  test('to accept: the difference is charged once', async () => {
    const { stage, row, before } = await disputed();
    const claimed = 11n * 1000n + 1_000_000n * 4000n;
    expect(nanoOf(row.dispute?.claimed ?? '')).toBe(claimed);
    const entry = await decide(row.id, 'accept');
    expect(entry.kind).toBe('adjustment');
    expect(nanoOf(entry.amount)).toBe(nanoOf(row.cost) - claimed);
    expect(await decide(row.id, 'accept')).toEqual(entry);
    expect(await availableTo(stage)).toBe(before + nanoOf(row.cost) - claimed);
    expect((await scene.gateway.admin<CallRow>('GET', `/calls/${row.id}`)).dispute?.decision).toBe('accept');
    await expect(decide(row.id, 'reject')).rejects.toThrow(/409|settled before/);
    const { data } = await scene.gateway.admin<{ data: { action: string }[] }>('GET', `/audit?subject=${row.id}`);
    expect(data.map(({ action }) => action)).toEqual(['call.dispute-accepted']);
  });

  test('to reject: the charge beyond the delivered usage is refunded once', async () => {
    const { stage, row, before } = await disputed();
    const delivered = BigInt(row.usage.input) * 1000n + BigInt(row.usage.output) * 4000n;
    const entries = await Promise.all([decide(row.id, 'reject'), decide(row.id, 'reject'), decide(row.id, 'reject')]);
    expect(new Set(entries.map(({ seq }) => seq)).size).toBe(1);
    expect(entries[0]?.kind).toBe('refund');
    expect(await availableTo(stage)).toBe(before + nanoOf(row.cost) - delivered);
    expect((await scene.gateway.admin<CallRow>('GET', `/calls/${row.id}`)).dispute?.decision).toBe('reject');
    await expect(decide(row.id, 'accept')).rejects.toThrow(/409|settled before/);
  });

  test('from the command line, and recomputed bills still match', async () => {
    const { row } = await disputed();
    const run = async (...words: string[]) => {
      const { url, adminKey, dataFolder } = scene.gateway;
      const command = spawnModelport(words, {
        MODELPORT_DATA_DIR: dataFolder,
        MODELPORT_URL: url,
        MODELPORT_ADMIN_KEY: adminKey,
      });
      const code = await command.exited;
      return { code, text: command.log() };
    };
    expect((await run('disputes', 'list')).text).toContain(row.id);
    expect((await run('disputes', 'reject', row.id)).code).toBe(0);
    expect((await run('disputes', 'accept', row.id)).code).toBe(1);
    expect((await run('ledger', 'replay', '--since', '2020-01-01')).code).toBe(0);
  }, 60_000);

  test('a call that is not disputed or does not exist cannot be settled', async () => {
    const stage = await scene.stage();
    stage.script(wholeAnswer('x'));
    await (await stage.post('/v1/chat/completions', chatRequest(stage.model))).text();
    const { id } = await stage.settledCall();
    await expect(decide(id, 'accept')).rejects.toThrow(/409|not disputed/);
    await expect(decide('req_none', 'accept')).rejects.toThrow(/404|no call/);
  });
});
