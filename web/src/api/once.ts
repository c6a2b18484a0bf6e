/** Idempotency keys: a change that is sent again is made once. */
import { useState } from 'react';

const newIdempotencyKey = () =>
  `console-${Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, '0')).join('')}`;

/** What is asked for with these headers is done once, however often it is sent. `renew` begins another: after success, and for other values. */
export function useOnce() {
  const [once, setOnce] = useState(newIdempotencyKey);
  return { headers: { 'idempotency-key': once }, renew: () => setOnce(newIdempotencyKey()) };
}
