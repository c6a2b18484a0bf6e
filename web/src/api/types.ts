/** The shapes of the admin API that the console reads. Money is decimal text, times are ISO text. */
import type { Static } from 'typebox';
import type { ATTEMPT } from '../../../src/http/receipt-shape.ts';
import type { Account as AccountSchema } from '../../../src/http/routes/admin/account-shape.ts';

export interface Page<T> {
  data: T[];
  hasMore: boolean;
  next?: string | null;
}

export interface Budget {
  total?: string;
  day?: string;
  month?: string;
}

export interface Limits {
  budget?: Budget;
  requestsPerMinute?: number;
  tokensPerMinute?: number;
  concurrency?: number;
}

export interface Spent {
  total: string;
  day: string;
  month: string;
}

/** Only a single account has what it spent. */
export type Account = Static<typeof AccountSchema> & { spent?: Spent };

export interface Key extends Limits {
  id: string;
  account: string;
  kind: 'caller' | 'admin';
  name: string;
  last4: string;
  createdAt: string;
  expiresAt?: string;
  disabledAt?: string;
  models?: string[];
  scopes?: string[];
  addresses?: string[];
  spent?: Spent;
}

export interface Entry {
  seq: number;
  kind: string;
  amount: string;
  balanceAfter: string;
  callId?: string;
  note?: string;
  at: string;
  hash: string;
}

export interface Usage {
  input?: number;
  cachedInput?: number;
  cacheWrite?: number;
  output?: number;
  reasoning?: number;
  source?: string;
}

export interface CallRow {
  id: string;
  account: string;
  key: string;
  at: string;
  model: string;
  provider?: string;
  targetModel?: string;
  dialect: string;
  upstreamDialect?: string;
  stream: boolean;
  status: number;
  outcome: string;
  errorCode?: string;
  attempts?: number;
  cost: string;
  priceId?: string;
  usage?: Usage;
  saved?: string;
  durationMs: number;
  firstByteMs?: number;
}

type ShownAttempt = Static<typeof ATTEMPT>;
/** Members do not see providers where the operator does not show them. */
export type Attempt = Omit<ShownAttempt, 'provider' | 'target'> & Partial<Pick<ShownAttempt, 'provider' | 'target'>>;

export interface ChargeLine {
  component: string;
  quantity: number;
  rate: string;
  amount: string;
}

export interface Receipt extends Omit<CallRow, 'attempts'> {
  attempts: Attempt[];
  hold?: string;
  losses?: string[];
  error?: { code: string; message: string; param?: string };
  charge: ChargeLine[];
  route?: string[];
  entries?: Omit<Entry, 'hash'>[];
  dispute?: { claimed: string; charged: string; decision?: string };
  tags?: string[];
  user?: string;
  clientRequestId?: string;
}

export interface Provider {
  name: string;
  type: string;
  baseUrl?: string;
  credentials: string[];
  settings: Record<string, unknown>;
  concurrency?: number;
  tokensPerMinute?: number;
  queueMs?: number;
}

/** A model that a provider lists; all but its name is from the price list. */
export interface FoundModel {
  id: string;
  kind?: string;
  price?: Price;
  contextTokens?: number;
  maxOutputTokens?: number;
}

export interface FoundList {
  data: FoundModel[];
  hasMore: boolean;
  problem?: { code: string; message: string };
}

export interface Target {
  provider: string;
  model: string;
  priority: number;
  weight: number;
}

export type Price = { readonly [component: string]: unknown };

export interface Model {
  name: string;
  aliases?: string[];
  fallbacks?: { model: string; on: string[] }[];
  kind: string;
  price: Price;
  priceId: string;
  maxOutputTokens?: number;
  contextTokens?: number;
  displayName?: string;
  ownedBy: string;
  createdAt: string;
  targets: Target[];
  strategy?: string;
  scheduled?: { priceId: string; from: string }[];
}

export interface TargetHealth {
  id: string;
  provider: string;
  model: string;
  phase: string;
  calls: number;
  errorRate: number;
  inFlight: number;
  queued: number;
  firstTokenMs?: number;
  wholeMs?: number;
  nextProbeAt?: string;
  coolingCredentials: { credential?: string; until?: string }[];
}

export interface UsageGroup {
  group: string;
  day?: string;
  hour?: string;
  model?: string;
  key?: string;
  account?: string;
  calls: number;
  cost: string;
  input_tokens: number;
  output_tokens: number;
  saved: string;
}

export interface UsageReport {
  from: string;
  to: string;
  data: UsageGroup[];
  total: Omit<UsageGroup, 'group'>;
}

export interface Quantiles {
  p50: number;
  p95: number;
}

export interface OverviewFigures {
  calls: number;
  failed: number;
  errorRate?: number;
  spend: string;
  saved: string;
  tokens: { input: number; cachedInput: number; cacheWrite: number; output: number; reasoning: number };
  cacheShare?: number;
  firstTokenMs?: Quantiles;
  durationMs?: Quantiles;
}

export interface OverviewLine {
  account: string;
  name?: string;
  calls: number;
  spend: string;
  tokens: number;
}

export interface Overview {
  from: string;
  to: string;
  before: { from: string; to: string };
  stepSeconds: number;
  current: OverviewFigures;
  previous: OverviewFigures;
  series: ({ at: string } & OverviewFigures)[];
  previousSeries: { at: string; calls: number; spend: string }[];
  models: ({ model: string } & OverviewFigures)[];
  keys: ({ key: string } & OverviewLine)[];
  accounts: OverviewLine[];
  holds: { open: number; amount: string; oldestAt?: string };
}
