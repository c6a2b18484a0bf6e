/** Runs one check for many cases, several at a time, and reports all failures. */
import { FORMATS, type Format } from '../clients/formats-client.ts';

const AT_A_TIME = 6;

export async function sideBySide<T>(
  cases: readonly T[],
  nameOf: (each: T) => string,
  check: (each: T) => Promise<void>,
): Promise<void> {
  const waiting = [...cases];
  const failures: string[] = [];
  const worker = async () => {
    for (let each = waiting.shift(); each !== undefined; each = waiting.shift()) {
      try {
        await check(each);
      } catch (thrown) {
        failures.push(`${nameOf(each)}: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, worker));
  if (failures.length > 0) throw new Error(`${failures.length} of ${cases.length} fail:\n\n${failures.join('\n\n')}`);
}

/** The body of a test that checks each chat format, several at a time. */
export const inEachFormat = (check: (format: Format) => Promise<void>) => (): Promise<void> =>
  sideBySide(FORMATS, (format) => format, check);
