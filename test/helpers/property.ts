/** Property tests with a time limit: on a busy machine a property passes with the cases that were run in time. */
import fc from 'fast-check';

fc.configureGlobal({ interruptAfterTimeLimit: 15_000 });

export { fc };
