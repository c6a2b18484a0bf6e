/**
 * Property tests. They draw the same cases in each run, so that a commit that passes passes everywhere; the nightly run, with
 * `MODELPORT_TEST_THOROUGH=1`, draws new ones. On a busy machine a property passes with the cases that were run in time.
 */
import fc from 'fast-check';

const isThorough = process.env.MODELPORT_TEST_THOROUGH === '1';

fc.configureGlobal({ interruptAfterTimeLimit: 15_000, ...(!isThorough && { seed: 20_261_123 }) });

/** How much of a load is run: the whole in the nightly run, a part of it with each commit. */
export const ofLoad = (whole: number, part: number): number => (isThorough ? whole : part);

export { fc };
