/** A change of one model, on its row as it is. */
import type { ModelRow } from './catalog-rows.ts';
import type { PriceRow } from './price-rows.ts';
import type { Audit } from './rows.ts';

export interface ModelChange {
  name: string;
  /** The row from what it is now; `undefined`: there is none. If it throws, nothing of the transaction is kept. It may run again. */
  change(row: ModelRow | undefined): ModelRow;
  /** A price version that is saved with it. */
  price?: PriceRow;
  audit?: Audit<ModelRow> | undefined;
}
