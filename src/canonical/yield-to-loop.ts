/** Lets the event loop run other tasks: long work does this every few milliseconds, so that calls go on. */
export const yieldToLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
