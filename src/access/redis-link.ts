/** A connection to Redis that runs Lua scripts. The scripts of one turn of the event loop go out in one write. */
import { RedisClient } from 'bun';

/** What a script is run with. */
export interface ScriptInput {
  readonly keys: readonly string[];
  readonly args: readonly string[];
}

export interface RedisLink {
  /**
   * Runs the script. `input` is called when the script is sent, at the end of the turn, and again if Redis did not know the script. Has no
   * time limit of its own. Rejects if Redis refuses or cannot be reached.
   */
  run(script: string, input: () => ScriptInput): Promise<unknown>;
  /** Replaces a connection that no longer answers: the next script uses a new one. */
  renew(): void;
  close(): void;
}

/** A script that waits for the end of the turn. */
interface WaitingScript {
  script: string;
  input(): ScriptInput;
  resolve(answer: unknown): void;
  reject(thrown: unknown): void;
}

const CONNECT_TIMEOUT_MS = 2000;
const RETRIES = 1_000_000_000;

/** Connects when the first script is run. `answered` receives how long each script took. */
export function createRedisLink(url: string, answered?: (ms: number) => void): RedisLink {
  let client: RedisClient | undefined;
  let waiting: WaitingScript[] = [];
  const hashes = new Map<string, string>();

  async function connected(): Promise<RedisClient> {
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

  /**
   * Bun's client writes at the end of each callback, and each arriving request is a callback: that was two writes for every call, where
   * 32 callers now share one.
   */
  async function sendWaiting(): Promise<void> {
    const scripts = waiting;
    // Closed meanwhile.
    if (scripts.length === 0) return;
    waiting = [];
    try {
      const redis = client?.connected ? client : await connected();
      const from = performance.now();
      for (const one of scripts) send(redis, one, from);
    } catch (thrown) {
      for (const { reject } of scripts) reject(thrown);
    }
  }

  function send(redis: RedisClient, { script, input, resolve, reject }: WaitingScript, from: number): void {
    const asked = () => {
      const { keys, args } = input();
      return [String(keys.length), ...keys, ...args];
    };
    const timed = (answer: unknown) => {
      answered?.(performance.now() - from);
      resolve(answer);
    };
    redis.send('EVALSHA', [hashOf(script), ...asked()]).then(timed, (thrown) => {
      // A restarted Redis does not know the script yet.
      const isUnknown = thrown instanceof Error && thrown.message.startsWith('NOSCRIPT');
      if (isUnknown) redis.send('EVAL', [script, ...asked()]).then(resolve, reject);
      else reject(thrown);
    });
  }

  return {
    run(script, input) {
      return new Promise((resolve, reject) => {
        if (waiting.push({ script, input, resolve, reject }) === 1) setImmediate(sendWaiting);
      });
    },
    renew() {
      client?.close();
      client = undefined;
    },
    close() {
      for (const { reject } of waiting.splice(0)) reject(new Error('The connection to Redis is closed.'));
      client?.close();
      client = undefined;
    },
  };
}
