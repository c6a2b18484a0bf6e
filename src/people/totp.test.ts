import { expect, test } from 'bun:test';
import { newTotpSecret, stepOf, totpCode } from './totp.ts';

/** RFC 6238, appendix B: the secret is "12345678901234567890". */
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

test('codes are those of RFC 6238', () => {
  const codes = [59, 1_111_111_109, 1_234_567_890, 20_000_000_000].map((at) => totpCode(SECRET, Math.floor(at / 30)));
  expect(codes).toEqual(['287082', '081804', '005924', '353130']);
});

test('a code counts one step before and after its own', () => {
  const now = 1_800_000_000_000;
  const at = (steps: number) => stepOf(SECRET, totpCode(SECRET, now / 30_000), now + steps * 30_000);
  expect([-2, -1, 0, 1, 2].map(at)).toEqual([undefined, now / 30_000, now / 30_000, now / 30_000, undefined]);
  expect(newTotpSecret()).toMatch(/^[A-Z2-7]{32}$/);
});
