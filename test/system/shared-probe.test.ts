/** Two gateways with one Redis: a target that was out is probed by one of them. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chatRequest, wholeAnswer } from '../helpers/chat-answers.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway-process.ts';
import { hasRedis, type RedisServer, startRedis } from '../helpers/redis-server.ts';
import { PRICE } from '../helpers/scene.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../upstream/scripted-upstream.ts';

const TARGET = '/health/targets/first%2Fupstream-model';
const WITHIN_MS = 60_000;
/** The lease lasts a second: on a machine that is slower than that both may have it, one after the other. */
const ROUNDS = 10;
const SHARED_ROUNDS = 2;

interface TargetView {
  id: string;
  phase: string;
  nextProbeAt?: string;
}

describe.skipIf(!hasRedis)('two gateways', () => {
  let redis: RedisServer;
  let upstream: ScriptedUpstream;
  let gateways: readonly GatewayProcess[];

  beforeAll(async () => {
    [redis, upstream] = await Promise.all([startRedis(), startScriptedUpstream()]);
    for (const name of ['first', 'second']) upstream.script(`/${name}/`, wholeAnswer(name, { repeat: true }));
    const start = () =>
      startGateway({
        providers: ['first', 'second'].map((name) => ({
          name,
          type: 'openai-compatible',
          baseUrl: `${upstream.url}/${name}/v1`,
          credential: 'sk-fake',
        })),
        models: [
          {
            name: 'm',
            kind: 'chat',
            price: PRICE,
            maxOutputTokens: 10,
            targets: ['first', 'second'].map((provider, priority) => ({ provider, model: 'upstream-model', priority })),
          },
        ],
        environment: { REDIS_URL: redis.url, MODELPORT_REDIS_TIMEOUT_MS: '5000' },
      });
    gateways = await Promise.all([start(), start()]);
  }, WITHIN_MS);
  afterAll(async () => {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    await Promise.all([redis.stop(), upstream.close()]);
  }, WITHIN_MS);

  const onEach = <T>(act: (gateway: GatewayProcess) => Promise<T>) => Promise.all(gateways.map(act));
  const probes = () => upstream.journal('/first/').length;

  async function stateAt(gateway: GatewayProcess): Promise<TargetView> {
    const { data } = await gateway.admin<{ data: TargetView[] }>('GET', '/health/targets');
    return data.find(({ id }) => id === 'first/upstream-model')!;
  }

  async function call({ url, apiKey }: GatewayProcess): Promise<string> {
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers,
      body: JSON.stringify(chatRequest('m')),
    });
    return response.headers.get('x-modelport-provider') ?? `status ${response.status}`;
  }

  /** The target is out at both, and the time of its probe has come. Returns who answers one call of each. */
  async function round(): Promise<string[]> {
    await onEach((gateway) => gateway.admin('POST', `${TARGET}/cooldown`, { seconds: 1 }));
    await redis.command('FLUSHALL');
    for (const gateway of gateways) {
      const { phase, nextProbeAt = '' } = await stateAt(gateway);
      expect(phase).toBe('open');
      while (Date.now() <= Date.parse(nextProbeAt)) await Bun.sleep(10);
    }
    return onEach(call);
  }

  test(
    'one of them probes a target whose time has come, and the other leaves it out',
    async () => {
      let shared = 0;
      // Without a shared lease each would probe in every round.
      for (let count = 0; count < ROUNDS && shared < SHARED_ROUNDS; count++) {
        const before = probes();
        const answeredBy = await round();
        const phases = (await onEach(stateAt)).map(({ phase }) => phase);
        if (probes() - before !== 1) continue;
        shared++;
        expect(answeredBy.sort()).toEqual(['first', 'second']);
        expect(phases.sort()).toEqual(['open', 'ramp']);
      }
      expect(shared).toBe(SHARED_ROUNDS);
    },
    WITHIN_MS,
  );
});
