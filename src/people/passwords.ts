/** Passwords: argon2id, a few at a time, and as slow for a person who does not exist. */
import { GatewayError } from '../canonical/errors.ts';

export type PasswordAlgorithm = NonNullable<Parameters<typeof Bun.password.hash>[1]>;

export interface Passwords {
  hash(password: string): Promise<string>;
  /** Whether the password fits. Takes as long without a hash. */
  fits(password: string, hash: string | undefined): Promise<boolean>;
}

/** Each takes 64 MiB and a core for a tenth of a second. */
const AT_ONCE = 2;
const MOST_WAITING = 20;

/** `algorithm`: with the costs; argon2id as Bun does it by default. */
export function createPasswords(algorithm: PasswordAlgorithm = 'argon2id'): Passwords {
  let running = 0;
  const waiting: (() => void)[] = [];
  let nobody: Promise<string> | undefined;

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (running >= AT_ONCE) {
      if (waiting.length >= MOST_WAITING)
        throw new GatewayError('rate_limited', 'Too many people are signing in: try again in a moment.', {
          retryAfterSeconds: 2,
        });
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else running++;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  }

  const hash = (password: string) => inTurn(() => Bun.password.hash(password, algorithm));
  return {
    hash,
    async fits(password, known) {
      nobody ??= hash(crypto.randomUUID());
      const compared = known ?? (await nobody);
      const isRight = await inTurn(() => Bun.password.verify(password, compared));
      return isRight && known !== undefined;
    },
  };
}
