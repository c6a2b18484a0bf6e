/** For tests: the GatewayError with which a promise rejects, or that a function throws. */
import { expect } from 'bun:test';
import { GatewayError } from '../../src/canonical/errors.ts';

export async function failure(promise: Promise<unknown>): Promise<GatewayError> {
  const thrown = await promise.then(
    () => undefined,
    (error) => error,
  );
  expect(thrown).toBeInstanceOf(GatewayError);
  return thrown;
}

/** The GatewayError that a function throws. */
export function refusal(run: () => unknown): GatewayError {
  try {
    run();
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown;
    throw thrown;
  }
  throw new Error('nothing was refused');
}
