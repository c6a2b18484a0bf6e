/**
 * Alerts: events and figures become rows of an outbox in the store, which any process sends, at least once. While no channel is enabled,
 * nothing is recorded.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { answerWithin } from '../access/answer-within.ts';
import { newTimedId } from '../canonical/id.ts';
import { storable } from '../canonical/storable.ts';
import type { ProcessStatus } from '../ledger/ledger.ts';
import type { AlertChannelRow, AlertRow, ClaimedDelivery, DeliveryEnd } from '../store/alerts.ts';
import type { Store } from '../store/store.ts';
import type { EventSink } from '../telemetry/events.ts';
import { createAlertSink } from './alert-sink.ts';
import type { Deliver } from './deliver.ts';
import { alertFrom, type Draft, databaseBackDraft, databaseLostDraft, FLAPPING_MS } from './drafts.ts';
import { raiseFigures } from './figures.ts';
import { pauseAfter } from './pause.ts';
import { type AllRules, type RuleName, settingsFrom } from './rules.ts';

/** What the module needs. `now` returns milliseconds since 1970. */
export interface AlertsDeps {
  store: Pick<Store, 'alerts'>;
  deliver: Deliver;
  /** Throws `invalid_request` if webhooks must not be sent to this URL. */
  check(url: string): void;
  now(): number;
  /** A random number in [0, 1). */
  random(): number;
  /** The name of this process. */
  worker: string;
  processStatusOf(worker: string): ProcessStatus;
  /** Of several processes on a machine one computes figures and sends the alert that the database is lost. */
  isFirst: boolean;
  reportError(sentence: string, cause: unknown): void;
}

/** Records alerts in the database and sends them to the channels. Each is sent by one process, and tried again after failures. */
export interface Alerts {
  readonly sink: EventSink;
  /** Throws `invalid_request` if webhooks must not be sent to this URL. */
  check(url: string): void;
  /** Channels or rules were changed: reads them, and computes figures anew. */
  refresh(): Promise<void>;
  /** Sends a test now. Resolves with the reason if it was not sent. */
  test(channel: AlertChannelRow): Promise<string | undefined>;
  /** The periodic work with the database has succeeded. */
  databaseAnswered(): void;
  /** One turn, about every second: records what has happened, and starts sending what is due. */
  turn(): Promise<void>;
  /** Resolves when nothing is being sent, or after this time. */
  drain(boundMs: number): Promise<void>;
  /** The same, and what is then being sent is given up: another process sends it. */
  stop(boundMs: number): Promise<void>;
}

/** How often other processes' changes of channels and rules are read, and figures computed. */
const REFRESH_MS = 15_000;
const INHERIT_MS = 2000;
const FORGET_MS = 3_600_000;
const KEPT_MS = 90 * 86_400_000;
/** How long requests that are given up may take to end. */
const ABORTING_MS = 500;
/** Longer than any pause and lease: what lies further ahead was written while a clock was ahead. */
const AHEAD_MS = 2 * 3_600_000;
/** Longer than an attempt may take. */
const LEASE_MS = 60_000;
const MOST_UNDER_WAY = 32;
/** A receiver that hangs takes these places only. */
const MOST_TO_CHANNEL = 8;
/** With the pauses between them, these tries take about a day. */
export const MOST_TRIES = 30;
/** What could not be recorded yet. */
export const MOST_WAITING = 1000;
const MOST_FAILURES = 10;
/** The database is lost after so many turns without an answer. */
const SILENT_TURNS = 5;
const LONGEST_ERROR = 300;
/** Tries of an alert that is not in the outbox. */
const DIRECT_TRIES = 5;

/** Starts without channels: the first `turn` reads them. */
export function createAlerts(deps: AlertsDeps): Alerts {
  const { store, now, worker, reportError } = deps;
  let channels: readonly AlertChannelRow[] = [];
  let rules: AllRules = settingsFrom([]);
  let refreshedAt = 0;
  let inheritedAt = 0;
  let forgottenAt = 0;
  /** What is to be recorded, in order: kept while the database is lost. */
  const waiting: (() => Promise<unknown>)[] = [];
  let recording: Promise<void> | undefined;
  const underWay = new Set<Promise<void>>();
  /** How many of them are to a channel. */
  const toChannel = new Map<string, number>();
  /** Ends of deliveries that the store has not taken yet: they are not sent again. */
  const unrecorded = new Map<string, DeliveryEnd>();
  let isLosing = false;
  const stopping = new AbortController();
  let failures = 0;
  let silentTurns = 0;
  let lostAt = 0;
  /** When the loss of the database was last announced. */
  let announcedAt = 0;

  /** Channels whose secrets cannot be decrypted, and whose fault is in the log. */
  const reportedUnreadable = new Set<string>();

  const isOn = () => channels.length > 0;
  const alertOf = (draft: Draft) => alertFrom(draft, newTimedId('alert_', now()), now());
  const raise = (draft: Draft) => store.alerts.raise(alertOf(draft));
  /** A clock that was ahead for a moment is set back: then it is time too. */
  const hasPassed = (ms: number, since: number) => Math.abs(now() - since) >= ms;

  function soon(work: () => Promise<unknown>): void {
    if (waiting.length >= MOST_WAITING) {
      if (!isLosing)
        reportError('Alerts are lost: more of them wait for the database than are kept in memory.', undefined);
      isLosing = true;
      return;
    }
    waiting.push(work);
    void record();
  }

  /** In order; what fails is tried again by the next turn. */
  function record(): Promise<void> {
    recording ??= (async () => {
      try {
        for (let first = waiting[0]; first; first = waiting[0]) {
          await first();
          waiting.shift();
          failures = 0;
        }
        isLosing = false;
        await send();
      } catch (thrown) {
        // Where the database answers, the fault is the alert's own: it must not hold up the others.
        if (silentTurns === 0 && ++failures >= MOST_FAILURES) waiting.shift();
        if (lostAt === 0) reportError('An alert could not be recorded.', thrown);
      } finally {
        recording = undefined;
      }
    })();
    return recording;
  }

  async function read(): Promise<void> {
    channels = (await store.alerts.channels()).filter(({ enabled }) => enabled);
    for (const { id, unreadable } of channels) {
      if (unreadable === undefined) reportedUnreadable.delete(id);
      else if (!reportedUnreadable.has(id)) {
        reportedUnreadable.add(id);
        reportError(unreadable, undefined);
      }
    }
    rules = settingsFrom(await store.alerts.rules());
    refreshedAt = now();
  }

  async function figures(): Promise<void> {
    if (!isOn()) return;
    await raiseFigures(store.alerts, rules, now(), raise);
    if (!hasPassed(FORGET_MS, forgottenAt)) return;
    forgottenAt = now();
    await store.alerts.forget(now() - KEPT_MS);
  }

  /** Starts due deliveries: first to channels with the fewest active ones. */
  async function send(): Promise<void> {
    for (const [id, end] of unrecorded) {
      await store.alerts.delivered(id, worker, end);
      unrecorded.delete(id);
    }
    const countOf = (channel: string) => toChannel.get(channel) ?? 0;
    const due = await store.alerts.dueChannels(now());
    for (const channel of due.sort((a, b) => countOf(a) - countOf(b))) {
      const free = Math.min(MOST_TO_CHANNEL - countOf(channel), MOST_UNDER_WAY - underWay.size);
      if (free <= 0) continue;
      const lease = { now: now(), until: now() + LEASE_MS };
      for (const one of await store.alerts.claim(channel, worker, lease, free)) {
        toChannel.set(channel, countOf(channel) + 1);
        const sending: Promise<void> = sendOne(one).finally(() => {
          underWay.delete(sending);
          const left = countOf(channel) - 1;
          if (left > 0) toChannel.set(channel, left);
          else toChannel.delete(channel);
        });
        underWay.add(sending);
      }
    }
  }

  async function sendOne({ id, tries: before, alert, channel }: ClaimedDelivery): Promise<void> {
    const tries = before + 1;
    const error = channel ? await attempt(channel, alert) : 'The channel was removed.';
    // The process ends, and its lease with it: another sends it again.
    if (error !== undefined && stopping.signal.aborted) return;
    const isDead = !channel || tries >= MOST_TRIES;
    const end = error === undefined ? 'sent' : isDead ? 'dead' : 'pending';
    const at = end === 'pending' ? now() + pauseAfter(tries, deps.random()) : now();
    const ended = { state: end, tries, at, ...(error !== undefined && { error }) } as const;
    try {
      await store.alerts.delivered(id, worker, ended);
    } catch (thrown) {
      unrecorded.set(id, ended);
      reportError('A delivery of an alert could not be recorded yet.', thrown);
    }
    if (end === 'dead') reportError(`The alert ${alert.id} was given up: ${error}`, undefined);
  }

  /** Returns the reason why it was not sent. */
  async function attempt(channel: AlertChannelRow, alert: AlertRow): Promise<string | undefined> {
    if (channel.unreadable !== undefined) return channel.unreadable;
    try {
      await deps.deliver(channel, alert, stopping.signal);
      return undefined;
    } catch (thrown) {
      const message = thrown instanceof Error ? thrown.message : String(thrown);
      // Receivers send any text, and what cannot be stored would hold up all that follows.
      return storable(message.slice(0, LONGEST_ERROR));
    }
  }

  /** Leases of processes known to be dead end at once; for unknown ones their duration decides. */
  async function inherit(): Promise<void> {
    if (!hasPassed(INHERIT_MS, inheritedAt)) return;
    inheritedAt = now();
    const others = (await store.alerts.workers()).filter((other) => other !== worker);
    const dead = others.filter((other) => deps.processStatusOf(other) === 'gone');
    if (dead.length > 0) await store.alerts.releaseOf(dead);
  }

  /** The outbox is in the database, so this alert is sent from memory. */
  function tellLost(): void {
    lostAt = now();
    if (!isOn() || !rules.database_lost.enabled || !deps.isFirst || !hasPassed(FLAPPING_MS, announcedAt)) return;
    announcedAt = lostAt;
    const draft = databaseLostDraft(now());
    const alert = alertFrom(draft, `alert_${draft.key.replace(':', '_')}`, now());
    for (const channel of channels.filter(({ rules: wanted }) => !wanted || wanted.includes(draft.rule))) {
      const sending: Promise<void> = direct(channel, alert).finally(() => underWay.delete(sending));
      underWay.add(sending);
    }
  }

  async function direct(channel: AlertChannelRow, alert: AlertRow): Promise<void> {
    for (let tries = 1; tries <= DIRECT_TRIES; tries++) {
      if ((await attempt(channel, alert)) === undefined || stopping.signal.aborted) return;
      // The end of the process does not wait for it.
      await sleep(pauseAfter(tries, deps.random()), undefined, { ref: false });
    }
  }

  async function work(): Promise<void> {
    if (hasPassed(REFRESH_MS, refreshedAt)) {
      await read();
      if (deps.isFirst) {
        await figures();
        await store.alerts.pullIn(now(), now() + AHEAD_MS);
      }
    }
    if (!isOn()) return;
    await inherit();
    await record();
  }

  async function drain(boundMs: number): Promise<void> {
    await answerWithin(
      record().then(() => Promise.allSettled([...underWay])),
      boundMs,
    );
  }

  let working: Promise<void> | undefined;
  return {
    check: deps.check,
    sink: createAlertSink({
      now,
      isOn: (rule: RuleName) => isOn() && rules[rule].enabled,
      soon,
      alertOf,
      store: store.alerts,
    }),
    async refresh() {
      await read();
      await figures();
      await record();
    },
    test: (channel) => attempt(channel, testAlert(channel, now())),
    databaseAnswered() {
      silentTurns = 0;
      if (lostAt === 0) return;
      const since = lostAt;
      lostAt = 0;
      if (isOn() && announcedAt === since) soon(() => raise(databaseBackDraft(since, now())));
    },
    async turn() {
      if (++silentTurns === SILENT_TURNS) tellLost();
      if (working) return;
      working = work().catch((thrown) => {
        if (lostAt === 0 && silentTurns === 0) reportError('Alerts could not be sent.', thrown);
      });
      await working;
      working = undefined;
    },
    drain,
    async stop(boundMs) {
      await drain(boundMs);
      stopping.abort();
      await answerWithin(Promise.allSettled([...underWay]), ABORTING_MS);
    },
  };
}

function testAlert({ name }: AlertChannelRow, at: number): AlertRow {
  return {
    id: newTimedId('alert_', at),
    at,
    rule: 'test',
    severity: 'info',
    subject: name,
    title: `Test of the channel "${name}"`,
    text: 'Alerts of Modelport arrive here.',
    data: {},
  };
}
