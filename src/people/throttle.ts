/** Slows down guessing: failed attempts are counted by address and e-mail address, over all processes. */
import { GatewayError } from '../canonical/errors.ts';
import type { PeopleStore } from '../store/people.ts';
import { hashSecret } from './secrets.ts';

/** Call `attempt` before a password or code is checked, and `succeeded` afterwards if it was right. */
export interface Throttle {
  /** Counts an attempt before it is made, also for names that do not exist. Throws `rate_limited`. */
  attempt(name: string, address: string): Promise<void>;
  /** The attempt was right. */
  succeeded(name: string, address: string): Promise<void>;
}

const WINDOW_MS = 15 * 60_000;
const FIRST_WAIT_MS = 5000;
/** Attempts without a wait: of one name from one address, of one name, and from one address. */
const FREE = [5, 50, 100] as const;

/** Counts within 15 minutes. `now` returns milliseconds since 1970. */
export function createThrottle(people: PeopleStore, now: () => number): Throttle {
  return {
    async attempt(name, address) {
      const at = now();
      const subjects = subjectsOf(name, address);
      const before = await people.failures(subjects, at - WINDOW_MS);
      for (const [place, subject] of subjects.entries()) {
        const { count = 0, last = 0 } = before.get(subject) ?? {};
        const wait = last + waitAfter(count, FREE[place] ?? 0) - at;
        if (wait > 0) throw tooMany(wait);
      }
      await people.addFailures(subjects, at, at - WINDOW_MS);
      const after = await people.failures(subjects, at - WINDOW_MS);
      // Attempts at the same time have passed the first look together.
      for (const [place, subject] of subjects.entries()) {
        const counted = after.get(subject)?.count ?? 0;
        if (counted > (before.get(subject)?.count ?? 0) + 1 && counted > (FREE[place] ?? 0))
          throw tooMany(FIRST_WAIT_MS);
      }
    },
    async succeeded(name, address) {
      const [both = '', ofName = ''] = subjectsOf(name, address);
      await people.clearFailures(both);
      await people.clearFailures(ofName);
    },
  };
}

/** Twice as long after each attempt, up to a quarter of an hour. */
const waitAfter = (count: number, free: number): number =>
  count < free ? 0 : Math.min(WINDOW_MS, FIRST_WAIT_MS * 2 ** Math.min(count - free, 20));

/** Names are hashed: people type passwords into the wrong field. */
function subjectsOf(name: string, address: string): [both: string, ofName: string, ofAddress: string] {
  const who = hashSecret(name);
  const where = networkOf(address);
  return [`both ${who} ${where}`, `name ${who}`, `address ${where}`];
}

/** One client has all addresses of an IPv6 network of 64 bits. */
export function networkOf(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address;
  const [start = [], end = []] = address.split('::').map((part) => part.split(':').filter(Boolean));
  // `::` stands for as many zeros as are missing, also within the network.
  const zeros = new Array<string>(Math.max(0, 8 - start.length - end.length)).fill('0');
  const network = [...start, ...zeros, ...end].slice(0, 4);
  // IPv4 addresses and loopback, written as IPv6.
  return network.every((group) => /^0+$/.test(group)) ? address : network.join(':');
}

function tooMany(waitMs: number): GatewayError {
  const retryAfterSeconds = Math.ceil(waitMs / 1000);
  return new GatewayError('rate_limited', `There were too many attempts: try again in ${retryAfterSeconds} s.`, {
    retryAfterSeconds,
  });
}
