/** Runs the fuzzer: our server against Node's and our client against Node's, with the same bytes. */
import { allowedFor } from './allowed.ts';
import { type Difference, differenceOf, readReply, readRequests } from './compare.ts';
import { makeReply, makeRequest, seeded } from './messages.ts';
import type { NodePeer } from './node-peer.ts';

export interface Fault extends Pick<Difference, 'kind' | 'what'> {
  side: 'request' | 'reply';
  /** The seed that reproduces this case. */
  seed: number;
  bytes: string;
}

export interface FuzzReport {
  cases: number;
  /** Messages that both accepted with the same result. */
  alike: number;
  /** Intended differences, by name. */
  allowed: { [name: string]: number };
  faults: Fault[];
}

/** Cases that run at the same time. */
const AT_ONCE = 100;

/** Runs `cases` requests and as many replies. The same seed gives the same cases. */
export async function fuzz(peer: NodePeer, seed: number, cases: number): Promise<FuzzReport> {
  const outcome: FuzzReport = { cases: cases * 2, alike: 0, allowed: {}, faults: [] };

  function note(side: Fault['side'], own: number, bytes: string, hasRead: boolean, difference: Difference | undefined) {
    if (!difference) {
      if (hasRead) outcome.alike++;
      return;
    }
    const allowed = allowedFor(side, difference, bytes);
    if (!allowed) outcome.faults.push({ side, seed: own, bytes, kind: difference.kind, what: difference.what });
    else outcome.allowed[`${side}: ${allowed.name}`] = (outcome.allowed[`${side}: ${allowed.name}`] ?? 0) + 1;
  }

  async function one(own: number): Promise<void> {
    const random = seeded(own);
    const text = makeRequest(random);
    const bytes = Buffer.from(text, 'latin1');
    const reply = makeReply(random);
    const [ours, theirs, theirReply] = await Promise.all([
      readRequests(bytes, random),
      peer.readRequests(bytes),
      peer.readReply(reply),
    ]);
    note(
      'request',
      own,
      text,
      ours.messages.some(({ complete }) => complete),
      differenceOf(ours, theirs),
    );
    const ourReply = readReply(reply, random);
    const shown = `${reply.method} ${reply.closes ? 'closed' : 'open'}: ${reply.text}`;
    note(
      'reply',
      own,
      shown,
      ourReply.messages.some(({ complete }) => complete),
      differenceOf(ourReply, theirReply),
    );
  }

  for (let place = 0; place < cases; place += AT_ONCE) {
    const count = Math.min(AT_ONCE, cases - place);
    await Promise.all(Array.from({ length: count }, (_, more) => one(seed * 2 ** 22 + place + more)));
  }
  return outcome;
}
