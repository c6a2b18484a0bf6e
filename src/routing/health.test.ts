import { describe, expect, test } from 'bun:test';
import { GatewayError } from '../canonical/errors.ts';
import { isTargetFailure, TargetHealth } from './health.ts';

const always = () => 0;

function fail(health: TargetHealth, times: number, now: number): void {
  for (let i = 0; i < times; i++) health.failed(now, false);
}

/** One that is open since `now`. */
function opened(now = 0): TargetHealth {
  const health = new TargetHealth();
  fail(health, 5, now);
  return health;
}

/** Fails each probe at once, and returns when each came. */
function failedProbes(health: TargetHealth, until: number): number[] {
  const probes: number[] = [];
  for (let now = 0; now <= until; now += 100) {
    if (health.standing(now, always) !== 'probe' || !health.takeLease(now, false)) continue;
    probes.push(now);
    health.failed(now, true);
  }
  return probes;
}

describe('when a target opens', () => {
  test('one error takes no target out, and four in a row do not', () => {
    const health = new TargetHealth();
    fail(health, 4, 0);
    expect(health.phase(0)).toBe('closed');
    health.succeeded(0, false);
    fail(health, 4, 0);
    expect(health.phase(0)).toBe('closed');
    fail(health, 1, 0);
    expect(health.phase(0)).toBe('open');
  });

  test('half of ten calls of 30 seconds failing', () => {
    const health = new TargetHealth();
    for (let i = 0; i < 4; i++) {
      health.succeeded(i, false);
      health.failed(i, false);
    }
    health.succeeded(5, false);
    expect(health.phase(5)).toBe('closed');
    health.failed(6, false);
    expect(health.phase(6)).toBe('open');
  });

  test('what is older than 30 seconds does not count', () => {
    const health = new TargetHealth();
    for (let i = 0; i < 4; i++) {
      health.succeeded(0, false);
      health.failed(0, false);
    }
    health.succeeded(31_000, false);
    health.failed(31_000, false);
    expect(health.phase(31_000)).toBe('closed');
    expect(health.window.calls(31_000)).toBe(2);
  });

  test('a stream that breaks off counts as a failure instead of a success', () => {
    const health = new TargetHealth();
    for (let i = 0; i < 5; i++) {
      health.succeeded(i, false);
      health.brokeOff(i);
    }
    expect(health.window.calls(5)).toBe(5);
    expect(health.window.errorRate(5)).toBe(1);
  });

  test('refusals of the request, of the credential, and rate limits are no failures of the target', () => {
    expect(isTargetFailure(new GatewayError('upstream_refused', 'No.'))).toBe(false);
    expect(isTargetFailure(new GatewayError('rate_limited', 'No.'))).toBe(false);
    expect(isTargetFailure(new GatewayError('upstream_failed', 'No.', { credentialRefused: true }))).toBe(false);
    expect(isTargetFailure(new GatewayError('upstream_failed', 'No.'))).toBe(true);
    expect(isTargetFailure(new GatewayError('upstream_timeout', 'No.'))).toBe(true);
  });
});

describe('probes', () => {
  test('come after 1, 2 and 4 seconds, then every 5', () => {
    expect(failedProbes(opened(), 27_000)).toEqual([1000, 3000, 7000, 12_000, 17_000, 22_000, 27_000]);
  });

  test('one at a time: the lease ends with the probe, or after 10 seconds', () => {
    const health = opened();
    expect(health.takeLease(1000, false)).toBe(true);
    expect(health.phase(1000)).toBe('half-open');
    expect(health.standing(1000, always)).toBe('open');
    expect(health.takeLease(1000, false)).toBe(false);
    expect(health.takeLease(10_999, true)).toBe(false);
    expect(health.takeLease(11_000, false)).toBe(true);
    health.giveBack();
    expect(health.takeLease(11_000, false)).toBe(true);
  });

  test('the last target is tried by one call at a time without waiting for the next probe', () => {
    const health = opened();
    expect(health.takeLease(1, false)).toBe(false);
    expect(health.takeLease(1, true)).toBe(true);
    expect(health.takeLease(2, true)).toBe(false);
  });

  test('calls that started earlier do not change an open target', () => {
    const health = opened();
    fail(health, 100, 10);
    health.succeeded(20, false);
    expect(health.phase(20)).toBe('open');
    expect(failedProbes(health, 1000)).toEqual([1000]);
  });

  test('a clock that was set back blocks no target', () => {
    const health = opened(3_600_000);
    expect(health.standing(0, always)).toBe('probe');
  });

  for (const outage of [25_000, 40_000, 75_000]) {
    test(`after an outage of ${outage / 1000} s the target is back within 10 s, at one call a second`, () => {
      const health = new TargetHealth();
      let firstBack = 0;
      let allBack = 0;
      for (let now = 0; now < outage + 30_000 && allBack === 0; now += 1000) {
        const standing = health.standing(now, () => 0.99);
        const isProbe = standing === 'probe' && health.takeLease(now, false);
        if (standing !== 'ready' && !isProbe) continue;
        if (now < outage) health.failed(now, isProbe);
        else {
          health.succeeded(now, isProbe);
          firstBack ||= now;
          if (standing === 'ready') allBack = now;
        }
      }
      expect(firstBack - outage).toBeLessThanOrEqual(5000);
      expect(allBack - outage).toBeLessThanOrEqual(10_000);
    });
  }
});

describe('the ramp', () => {
  test('10 % for two seconds, 30 % for two, then all', () => {
    const health = opened();
    health.takeLease(1000, false);
    health.succeeded(1500, true);
    const share = (now: number) => {
      let ready = 0;
      for (let i = 0; i < 100; i++) if (health.standing(now, () => i / 100) === 'ready') ready++;
      return ready;
    };
    expect([share(1500), share(3499), share(3500), share(5499), share(5500)]).toEqual([10, 10, 30, 30, 100]);
    expect([health.phase(3000), health.phase(5500)]).toEqual(['ramp', 'closed']);
  });

  test('a call above the share may use it if no other target is left', () => {
    const health = opened();
    health.takeLease(1000, false);
    health.succeeded(1500, true);
    expect(health.standing(1600, () => 0.5)).toBe('ramp');
    expect(health.needsLease).toBe(false);
  });

  test('two failures in a row end it, and the next probe waits longer than the one before', () => {
    const health = opened();
    health.takeLease(1000, false);
    health.succeeded(1500, true);
    health.failed(1600, false);
    expect(health.phase(1600)).toBe('ramp');
    health.failed(1700, false);
    expect(health.phase(1700)).toBe('open');
    expect(health.nextProbeAt).toBe(3700);
  });
});

test('an operator disables a target and enables it again', () => {
  const health = new TargetHealth();
  health.coolDown(600_000, 0);
  expect(health.standing(1000, always)).toBe('open');
  expect(health.standing(600_000, always)).toBe('probe');
  health.reset();
  expect(health.standing(1000, always)).toBe('ready');
});
