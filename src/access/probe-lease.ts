/** Which process probes a target that has failed: Redis gives the probe to one of them. */
import { answerWithin } from './answer-within.ts';
import { createRedisLink } from './redis-link.ts';

export interface SharedProbeLease {
  /** `true`: no other process has had it within the last `ms`, or Redis does not answer: then each process probes for itself. */
  take(target: string, ms: number): Promise<boolean>;
  close(): void;
}

const TAKE = `return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) and 1 or 0`;

export function createProbeLease(url: string, prefix: string, timeoutMs: number): SharedProbeLease {
  const link = createRedisLink(url);
  return {
    async take(target, ms) {
      const pending = link.run(TAKE, () => ({
        keys: [`${prefix}probe:${target}`],
        args: ['1', String(Math.ceil(ms))],
      }));
      const answer = await answerWithin(pending, timeoutMs).catch(() => undefined);
      return answer !== 0;
    },
    close: () => link.close(),
  };
}
