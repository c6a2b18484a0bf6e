/** The health of one target: a circuit breaker (one probe at a time, then a ramp), and its measured times and recent outcomes. */
import type { GatewayError } from '../canonical/errors.ts';
import { MovingAverage, TimeHistogram } from './timings.ts';

/** A target opens at half of its calls failing, of so many at least; one error never takes a target out. */
const FEWEST_CALLS = 10;
const WORST_ERROR_RATE = 0.5;
/** With little traffic: so many failures in a row. */
const FAILURES_IN_A_ROW = 5;
/** In the ramp: a target that fails again has not recovered. */
const FAILURES_IN_RAMP = 2;
/** Between two probes: 1, 2, 4, then every 5 seconds. */
const FIRST_PROBE_MS = 1000;
const LONGEST_PROBE_MS = 5000;
/** After this time without an answer a probe is replaced by the next one. */
const LEASE_MS = 10_000;
/** Shares of the calls that a target gets after a successful probe, each for so long; then all. */
const RAMP_SHARES = [0.1, 0.3] as const;
const RAMP_STEP_MS = 2000;

/** The state of a target in reports and metrics. `half-open`: it is open and a probe is active. */
export type Phase = 'closed' | 'open' | 'half-open' | 'ramp';

/**
 * What an order may do with a target now. `ready`: use it. `probe`: the time of a probe has come, one call may try. `ramp`: it
 * recovers, and this call is not in its share: only if no other is ready. `open`: only if no other is left, one call at a time.
 */
export type Standing = 'ready' | 'probe' | 'ramp' | 'open';

/** Decides over all processes who may probe; absent: each process for itself. */
export interface ProbeLease {
  /** `true`: no other process has had it within the last `ms`. */
  take(target: string, ms: number): Promise<boolean>;
}

/** A failure of the target, not of the request, the credential or a rate limit. */
export function isTargetFailure(error: GatewayError): boolean {
  if (error.code === 'invalid_request' || error.code === 'rate_limited' || error.credentialRefused) return false;
  return error.retryable;
}

/** It goes into cooldown for so long at least, or (0) comes out of it. */
export type HealthChanged = (reason: 'failing' | 'admin' | 'recovered', ms: number) => void;

/**
 * The health of one target in this process. Times are milliseconds since 1970. Five failures in a row, or half of at least ten calls in 30 s,
 * open it; probes close it again in steps.
 */
export class TargetHealth {
  readonly window = new OutcomeWindow();
  /** Milliseconds until the first token of streams, and for each token after it. */
  readonly firstToken = new MovingAverage();
  readonly perToken = new MovingAverage();
  /** Milliseconds until the whole response of calls that are not streamed. */
  readonly whole = new MovingAverage();
  readonly firstTokens = new TimeHistogram();
  /** Active attempts. */
  inFlight = 0;
  private isOpen = false;
  private failuresInARow = 0;
  /** Probes that have failed since the target was closed last. */
  private failedProbes = 0;
  /** The next probe, while it is open. */
  private probeAt = 0;
  private leaseUntil = 0;
  /** When a probe succeeded; 0: not in a ramp. */
  private rampSince = 0;
  /** An operator has opened it. */
  private isCooledDown = false;
  private readonly changed: HealthChanged | undefined;

  constructor(changed?: HealthChanged | undefined) {
    this.changed = changed;
  }

  phase(now: number): Phase {
    if (this.isOpen) return this.isLeased(now) ? 'half-open' : 'open';
    return this.rampShare(now) < 1 ? 'ramp' : 'closed';
  }

  /** `random` gives [0, 1). */
  standing(now: number, random: () => number): Standing {
    if (!this.isOpen) {
      const share = this.rampShare(now);
      return share === 1 || random() < share ? 'ready' : 'ramp';
    }
    return this.isProbeDue(now) && !this.isLeased(now) ? 'probe' : 'open';
  }

  /** An attempt has ended. Never below zero: it may have started before the target was removed and added again. */
  left(): void {
    if (this.inFlight > 0) this.inFlight--;
  }

  /** When an open target is probed next. */
  get nextProbeAt(): number {
    return this.isOpen ? this.probeAt : 0;
  }

  isLeased(now: number): boolean {
    return this.leaseUntil > now && this.leaseUntil - now <= LEASE_MS;
  }

  /** For how long the next probe may wait. */
  get probeIntervalMs(): number {
    return Math.min(FIRST_PROBE_MS * 2 ** this.failedProbes, LONGEST_PROBE_MS);
  }

  /** An attempt needs a lease to begin: the target is open. */
  get needsLease(): boolean {
    return this.isOpen;
  }

  /** One attempt at a time may try what is open. `isLast`: there is no other target, so it need not wait for the next probe. */
  takeLease(now: number, isLast: boolean): boolean {
    if (this.isLeased(now) || !(isLast || this.isProbeDue(now))) return false;
    this.leaseUntil = now + LEASE_MS;
    return true;
  }

  /** Another process probes: this one waits for its own turn. */
  yieldProbe(now: number): void {
    this.leaseUntil = 0;
    this.probeAt = now + this.probeIntervalMs;
  }

  /** Returns a lease that was not used. */
  giveBack(): void {
    this.leaseUntil = 0;
  }

  /** `isProbe`: the attempt was acquired while the target was open. Others that started earlier neither close nor reopen it. */
  succeeded(now: number, isProbe: boolean): void {
    this.failuresInARow = 0;
    this.window.add(true, now);
    if (this.isOpen) {
      if (isProbe) this.recover(now);
    } else if (this.rampSince > 0 && this.rampShare(now) === 1) {
      this.rampSince = 0;
      this.failedProbes = 0;
    }
  }

  failed(now: number, isProbe: boolean): void {
    this.window.add(false, now);
    this.worsen(now, isProbe);
  }

  /** A started stream broke off. */
  brokeOff(now: number): void {
    this.window.spoil(now);
    this.worsen(now, false);
  }

  /** An operator takes the target out, until the probe at this time. */
  coolDown(until: number, now: number): void {
    this.isOpen = this.isCooledDown = true;
    this.leaseUntil = this.rampSince = 0;
    this.probeAt = until;
    this.changed?.('admin', until - now);
  }

  /** An operator resets it. */
  reset(): void {
    if (this.isOpen) this.changed?.('recovered', 0);
    this.isOpen = this.isCooledDown = false;
    this.leaseUntil = this.rampSince = 0;
    this.failedProbes = this.failuresInARow = 0;
    this.window.clear();
  }

  private worsen(now: number, isProbe: boolean): void {
    this.failuresInARow++;
    if (this.isOpen) {
      if (isProbe) this.open(now, true);
      return;
    }
    const isInRamp = this.rampShare(now) < 1;
    const most = isInRamp ? FAILURES_IN_RAMP : FAILURES_IN_A_ROW;
    const isFailing = this.window.calls(now) >= FEWEST_CALLS && this.window.errorRate(now) >= WORST_ERROR_RATE;
    if (this.failuresInARow >= most || isFailing) this.open(now, isInRamp);
  }

  private open(now: number, again: boolean): void {
    this.isOpen = true;
    this.isCooledDown = false;
    this.leaseUntil = this.rampSince = 0;
    this.failuresInARow = 0;
    this.failedProbes = again ? this.failedProbes + 1 : 0;
    this.probeAt = now + this.probeIntervalMs;
    this.changed?.('failing', this.probeIntervalMs);
  }

  private recover(now: number): void {
    this.isOpen = this.isCooledDown = false;
    this.leaseUntil = 0;
    this.rampSince = now;
    this.window.clear();
    this.changed?.('recovered', 0);
  }

  private isProbeDue(now: number): boolean {
    // No probe is that far away: the clock was set back.
    return now >= this.probeAt || (!this.isCooledDown && this.probeAt - now > LONGEST_PROBE_MS);
  }

  private rampShare(now: number): number {
    if (this.rampSince === 0) return 1;
    const step = Math.floor((now - this.rampSince) / RAMP_STEP_MS);
    return RAMP_SHARES[Math.max(step, 0)] ?? 1;
  }
}

const SLOTS = 30;
const SLOT_MS = 1000;

/** Counts outcomes in slots of one second. Times are milliseconds since 1970. */
class OutcomeWindow {
  private readonly good = new Uint32Array(SLOTS);
  private readonly bad = new Uint32Array(SLOTS);
  /** The second that was counted last. */
  private at = 0;
  private goods = 0;
  private bads = 0;

  add(isGood: boolean, now: number): void {
    const slot = this.advance(now);
    if (isGood) {
      this.good[slot]!++;
      this.goods++;
    } else {
      this.bad[slot]!++;
      this.bads++;
    }
  }

  /** An attempt that was counted as a success has failed later, in the middle of its stream. */
  spoil(now: number): void {
    const slot = this.advance(now);
    for (let back = 0; back < SLOTS; back++) {
      const earlier = (slot - back + SLOTS) % SLOTS;
      if (this.good[earlier] === 0) continue;
      this.good[earlier]!--;
      this.goods--;
      break;
    }
    this.add(false, now);
  }

  clear(): void {
    this.good.fill(0);
    this.bad.fill(0);
    this.goods = this.bads = 0;
  }

  calls(now: number): number {
    this.advance(now);
    return this.goods + this.bads;
  }

  /** From 0 to 1; 0 where there was no call. */
  errorRate(now: number): number {
    const calls = this.calls(now);
    return calls === 0 ? 0 : this.bads / calls;
  }

  /** Drops what is older than the window. Returns the slot of `now`. */
  private advance(now: number): number {
    const second = Math.floor(now / SLOT_MS);
    const passed = second - this.at;
    if (passed !== 0) {
      // After a clock was set back the age of earlier samples is unknown.
      if (passed < 0 || passed >= SLOTS) this.clear();
      else for (let one = this.at + 1; one <= second; one++) this.forget(one % SLOTS);
      this.at = second;
    }
    return second % SLOTS;
  }

  private forget(slot: number): void {
    this.goods -= this.good[slot]!;
    this.bads -= this.bad[slot]!;
    this.good[slot] = this.bad[slot] = 0;
  }
}
