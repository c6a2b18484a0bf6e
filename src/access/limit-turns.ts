/** What the calls of one turn of the event loop ask of Redis goes there as one script call: admissions and ends together. */
import { answerWithin } from './answer-within.ts';
import type { Figures } from './limit-figures.ts';
import { ADMIT_AND_END } from './limit-scripts.ts';
import type { LimitRequest, Paced } from './limits.ts';
import type { RedisLink } from './redis-link.ts';
import type { SharedClock } from './shared-clock.ts';

/** An admission that waits for Redis. */
export interface WaitingAdmission {
  readonly ask: LimitRequest;
  /** The result of the script for this call. It may come after `late`. */
  counted(answer: Figures): void;
  /** Redis has not answered in time. */
  late(): void;
  /** No answer will come. It may come after `late`. */
  failed(cause: unknown): void;
}

/** The end of a call. */
export interface EndedCall {
  readonly ask: LimitRequest;
  /** For each key or account the second in which Redis counted the call. Absent if it did not. */
  readonly seconds: readonly number[] | undefined;
  /** Used minus estimated tokens. */
  readonly difference: number;
  /** Whether Redis knows of the end is unknown. */
  failed(): void;
}

export interface LimitTurns {
  /** Without a call id nothing is counted. */
  admit(waiting: WaitingAdmission): void;
  end(ended: EndedCall): void;
}

interface LimitTurnSettings {
  link: RedisLink;
  /** The first keys and arguments of every script: the clock and the process. */
  clockKey: string;
  keysOf(id: string): readonly string[];
  clock: SharedClock;
  self: string;
  leaseSeconds: number;
  /** How long an admission waits. */
  timeoutMs(): number;
}

/** The maximum of admissions and ends in one script call. */
const AT_ONCE = 500;
const NO_LIMIT = -1;

export function createLimitTurns(settings: LimitTurnSettings): LimitTurns {
  const { link, clockKey, keysOf, clock, self, leaseSeconds } = settings;
  let gathering: Turn | undefined;

  function turn(): Turn {
    if (gathering && gathering.size < AT_ONCE) return gathering;
    const fresh = new Turn();
    gathering = fresh;
    const answering = link.run(ADMIT_AND_END, () => {
      close(fresh);
      return {
        keys: [clockKey, ...fresh.ids().flatMap(keysOf)],
        args: [clock.say(), self, String(leaseSeconds), JSON.stringify(fresh.admitted), JSON.stringify(fresh.ended)],
      };
    });
    void follow(fresh, answering);
    return fresh;
  }

  /** Nothing more comes into this turn. */
  function close(turn: Turn): void {
    if (gathering === turn) gathering = undefined;
  }

  async function follow(turn: Turn, answering: Promise<unknown>): Promise<void> {
    const counted = answering.then((answer) => {
      const [now = 0, ...answers] = JSON.parse(String(answer)) as [now: number, ...answers: number[][]];
      clock.heard(now);
      for (const [i, waiting] of turn.waiting.entries()) waiting.counted(answers[i] ?? []);
      return true;
    });
    try {
      if (await answerWithin(counted, settings.timeoutMs())) return;
      // It may be unsent, and nobody waits for the time limit of who comes later.
      close(turn);
      for (const waiting of turn.waiting) waiting.late();
      await counted;
    } catch (cause) {
      close(turn);
      for (const waiting of turn.waiting) waiting.failed(cause);
      for (const ended of turn.ending) ended.failed();
    }
  }

  return { admit: (waiting) => turn().admit(waiting), end: (ended) => turn().end(ended) };
}

/** Admissions and ends as the script reads them: keys and accounts by their place among the keys of the script. */
class Turn {
  readonly waiting: WaitingAdmission[] = [];
  readonly ending: EndedCall[] = [];
  readonly admitted: (string | number)[][] = [];
  readonly ended: (string | number)[][] = [];
  readonly #places = new Map<string, number>();

  get size(): number {
    return this.waiting.length + this.ending.length;
  }

  ids(): string[] {
    return [...this.#places.keys()];
  }

  admit(waiting: WaitingAdmission): void {
    const { callId, tokens, paced } = waiting.ask;
    const written: (string | number)[] = [callId, tokens];
    for (const one of paced) {
      const { requestsPerMinute = NO_LIMIT, tokensPerMinute = NO_LIMIT, concurrency = NO_LIMIT } = one;
      written.push(this.#placeOf(one), requestsPerMinute, tokensPerMinute, concurrency);
    }
    this.waiting.push(waiting);
    this.admitted.push(written);
  }

  end(ended: EndedCall): void {
    const { ask, seconds, difference } = ended;
    const written: (string | number)[] = [ask.callId, difference];
    for (const [i, one] of ask.paced.entries()) written.push(this.#placeOf(one), seconds?.[i] ?? NOT_COUNTED);
    this.ending.push(ended);
    this.ended.push(written);
  }

  #placeOf({ id }: Paced): number {
    let place = this.#places.get(id);
    if (place === undefined) {
      place = this.#places.size + 1;
      this.#places.set(id, place);
    }
    return place;
  }
}

const NOT_COUNTED = -1;
