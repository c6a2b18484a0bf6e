/** For tests: the GatewayError with which a promise rejects. */
import { expect } from 'bun:test';
import { GatewayError } from '../src/canonical/errors.ts';

export async function failure(promise: Promise<unknown>): Promise<GatewayError> {
  const thrown = await promise.then(
    () => undefined,
    (error) => error,
  );
  expect(thrown).toBeInstanceOf(GatewayError);
  return thrown;
}
