/** Properties. One that a busy machine does not get through in time has held for the cases that it came to. */
import fc from 'fast-check';

fc.configureGlobal({ interruptAfterTimeLimit: 15_000 });

export { fc };
