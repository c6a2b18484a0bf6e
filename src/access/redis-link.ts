/** A connection to Redis that runs Lua scripts. */
import { RedisClient } from 'bun';

export interface RedisLink {
  /** Runs the script. Has no time limit of its own. Rejects if Redis refuses or cannot be reached. */
  run(script: string, keys: readonly string[], args: readonly string[]): Promise<unknown>;
  /** Replaces a connection that no longer answers: the next script uses a new one. */
  renew(): void;
  close(): void;
}

const CONNECT_TIMEOUT_MS = 2000;
const RETRIES = 1_000_000_000;

/** Connects when the first script is run. `answered`: is told how long each script took. */
export function createRedisLink(url: string, answered?: (ms: number) => void): RedisLink {
  let client: RedisClient | undefined;
  const hashes = new Map<string, string>();

  async function connected(): Promise<RedisClient> {
    if (client?.connected) return client;
    client ??= new RedisClient(url, {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      autoReconnect: true,
      maxRetries: RETRIES,
      // A call must not wait in a queue while Redis is away.
      enableOfflineQueue: false,
    });
    await client.connect();
    return client;
  }

  function hashOf(script: string): string {
    let hash = hashes.get(script);
    if (hash === undefined) {
      hash = new Bun.CryptoHasher('sha1').update(script).digest('hex');
      hashes.set(script, hash);
    }
    return hash;
  }

  return {
    async run(script, keys, args) {
      const asked = [String(keys.length), ...keys, ...args];
      const redis = await connected();
      const from = performance.now();
      try {
        const answer = await redis.send('EVALSHA', [hashOf(script), ...asked]);
        answered?.(performance.now() - from);
        return answer;
      } catch (thrown) {
        // A restarted Redis does not know the script yet.
        if (!(thrown instanceof Error) || !thrown.message.startsWith('NOSCRIPT')) throw thrown;
        return redis.send('EVAL', [script, ...asked]);
      }
    },
    renew() {
      client?.close();
      client = undefined;
    },
    close() {
      client?.close();
      client = undefined;
    },
  };
}
