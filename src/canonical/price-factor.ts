/** The factor by which a price group multiplies list prices. */
import { readFactor, writeFactor } from './money.ts';

/** In millionths, and as it is written in ids of price versions. */
export interface PriceFactor {
  readonly millionths: bigint;
  readonly text: string;
}

/** Each factor once. Throws an Error for a text that is no factor: nobody is charged by a guess. */
export function readPriceFactor(text: string): PriceFactor {
  const millionths = readFactor(text);
  if (millionths === undefined) throw new Error(`"${text}" is not a factor of a price group.`);
  return { millionths, text: writeFactor(millionths) };
}
