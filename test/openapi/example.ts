/**
 * Makes examples of what operations answered: short, without secrets, and the same from run to run. Ids, hashes and times of a run become
 * fixed ones, so that a new run of `scripts/openapi-examples.ts` changes only what the gateway answers differently.
 */

import { createHash } from 'node:crypto';
import type { Json } from '../../src/canonical/json.ts';
import { HOUR_MS, MINUTE_MS } from '../../src/canonical/time.ts';
import type { Ran } from './run.ts';

export interface Example {
  reply?: Json;
  event?: Json;
}

const LONGEST_TEXT = 120;
const LONGEST_LIST = 2;
/** Members that are secrets. */
const SECRETS: { readonly [member: string]: string } = {
  key: 'sk-example',
  code: 'mp-4J7K-9Q2M-XW3T',
  secret: 'whsec_example',
  path: '/console/#link=example',
};
/** Durations, which differ from run to run. */
const DURATIONS: { readonly [member: string]: number } = {
  admittedMs: 2,
  startedMs: 3,
  firstTokenMs: 310,
  firstByteMs: 310,
  durationMs: 820,
  p50: 310,
  p95: 820,
};

/** An id in a text: `resp_` or `chatcmpl-` and at least 20 letters and digits; it is in an address too. */
const ID = /\b([a-z]{2,10}[_-])([A-Za-z0-9]{20,40})\b/g;
const HASH = /^[0-9a-f]{64}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/;
const DAY = /^\d{4}-\d\d-\d\d$/;

/** The moment at which the run of every example began. */
const BEGAN = Date.UTC(2027, 0, 31, 12, 20);

/** Values of one run, which began at `startedAt` (milliseconds), as they are shown. One per run: an id is the same wherever it is. */
export class ExampleValues {
  readonly #startedAt: number;
  readonly #names = new Map<string, string>();

  constructor(startedAt: number) {
    this.#startedAt = startedAt;
  }

  of({ body, events }: Ran): Example {
    // An event that contains a part of the answer.
    const event = events?.[Math.min(events.length - 1, 4)];
    return {
      ...(body !== undefined && { reply: this.shown(body) }),
      ...(event !== undefined && { event: this.shown(event) }),
    };
  }

  shown(value: Json, member = ''): Json {
    if (typeof value === 'string') return this.#text(value, member);
    if (typeof value === 'number') return this.#number(value, member);
    if (Array.isArray(value)) return value.slice(0, LONGEST_LIST).map((one) => this.shown(one));
    if (typeof value !== 'object' || value === null) return value;
    const members = Object.entries(value).map(([name, inner]) => [name, this.shown(inner, name)] as const);
    // Counters of the ledger come in the order of the random ids of accounts.
    if (member === 'counters') members.sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(members);
  }

  #text(value: string, member: string): string {
    if (SECRETS[member] !== undefined && value.length > LONGEST_TEXT / 10) return SECRETS[member];
    if (member === 'last4') return this.#named('last four ', value, 4);
    if (member === 'responseId') return this.#named('reply ', value, 24);
    if (HASH.test(value))
      return createHash('sha256')
        .update(this.#named('hash ', value, 16))
        .digest('hex');
    if (TIME.test(value)) {
      const shown = new Date(this.#time(Date.parse(value))).toISOString();
      return value.includes('.') ? shown : shown.replace('.000', '');
    }
    if (member === 'day' && DAY.test(value)) return new Date(BEGAN).toISOString().slice(0, 10);
    const text = value
      .replace(ID, (_, prefix: string, id: string) => prefix + this.#named(prefix, id, id.length))
      // Accounts and models that the tests' own helpers create have the number of the process in their names.
      .replace(/\btest-\d+-\d+\b/g, 'example');
    return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text;
  }

  #number(value: number, member: string): number {
    if (DURATIONS[member] !== undefined) return DURATIONS[member];
    // Seconds or milliseconds since 1970.
    if (value > 1.7e9 && value < 2.5e9) return this.#time(value * 1000) / 1000;
    return value > 1.7e12 && value < 2.5e12 ? this.#time(value) : value;
  }

  /** As long after `BEGAN` as it was after the start of the run, to the minute; the beginning of an hour stays one. */
  #time(at: number): number {
    if (at % HOUR_MS === 0) return floor(BEGAN, HOUR_MS) + at - floor(this.#startedAt, HOUR_MS);
    return BEGAN + Math.round((at - this.#startedAt) / MINUTE_MS) * MINUTE_MS;
  }

  /** The same text of `length` letters and digits for the first, second … value of a kind. */
  #named(kind: string, value: string, length: number): string {
    const known = this.#names.get(kind + value);
    if (known !== undefined) return known;
    const place = [...this.#names.keys()].filter((one) => one.startsWith(kind)).length;
    const text = createHash('sha256').update(`${kind}${place}`).digest('base64').replace(/\W/g, '').slice(0, length);
    this.#names.set(kind + value, text);
    return text;
  }
}

const floor = (at: number, unit: number) => at - (at % unit);
