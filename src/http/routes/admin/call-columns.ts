/** The columns of calls in Parquet files. */
import type { CallRow } from '../../../store/rows.ts';
import type { ParquetColumn, ParquetValue } from '../usage/parquet.ts';

type CallColumn = ParquetColumn & { of(call: CallRow): ParquetValue };

const NO_MONEY = 0n;

/** Named as in the other formats. `usage` is JSON text. */
export const EXPORTED_COLUMNS: readonly CallColumn[] = [
  { name: 'id', type: 'text', of: ({ id }) => id },
  { name: 'account', type: 'text', of: ({ account }) => account },
  { name: 'key', type: 'text', of: ({ key }) => key },
  { name: 'at', type: 'time', of: ({ at }) => at },
  { name: 'model', type: 'text', of: ({ model }) => model },
  { name: 'provider', type: 'text', of: ({ provider }) => provider },
  { name: 'targetModel', type: 'text', of: ({ targetModel }) => targetModel },
  { name: 'dialect', type: 'text', of: ({ dialect }) => dialect },
  { name: 'upstreamDialect', type: 'text', of: ({ upstreamDialect }) => upstreamDialect },
  { name: 'stream', type: 'boolean', of: ({ stream }) => stream },
  { name: 'status', type: 'integer', of: ({ status }) => status },
  { name: 'outcome', type: 'text', of: ({ outcome }) => outcome },
  { name: 'errorCode', type: 'text', optional: true, of: ({ errorCode }) => errorCode },
  { name: 'provisional', type: 'boolean', of: ({ provisional = false }) => provisional },
  { name: 'attempts', type: 'integer', of: ({ attempts }) => attempts },
  { name: 'cost', type: 'amount', of: ({ cost }) => cost },
  { name: 'priceId', type: 'text', of: ({ priceId }) => priceId },
  { name: 'providerCost', type: 'amount', optional: true, of: ({ providerCost }) => providerCost },
  { name: 'usage', type: 'text', optional: true, of: ({ usage }) => usage && JSON.stringify(usage) },
  { name: 'saved', type: 'amount', of: ({ saved = NO_MONEY }) => saved },
  { name: 'durationMs', type: 'integer', of: ({ durationMs }) => durationMs },
  { name: 'firstByteMs', type: 'integer', optional: true, of: ({ firstByteMs }) => firstByteMs },
];
