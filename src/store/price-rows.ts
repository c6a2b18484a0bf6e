/** Price versions, and groups of accounts. */

/**
 * A price version. Immutable. `components` is a Price as JSON text. An id `ID*FACTOR` names the version `ID` at a factor of a price group: it
 * has no row of its own.
 */
export interface PriceRow {
  id: string;
  model: string;
  components: string;
  createdAt: number;
  /** Applies to calls from this time on. Absent: from its creation. */
  effectiveAt?: number;
  /** The price file that it was adopted from. */
  source?: string;
}

/** A price version that replaces the one before at a time. */
export interface ScheduledPrice {
  priceId: string;
  from: number;
}

/** Accounts that pay list prices times a factor. */
export interface PriceGroupRow {
  name: string;
  /** A decimal above zero, with at most six places: `1.2`. */
  factor: string;
  createdAt: number;
}
