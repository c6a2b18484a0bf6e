/** Responses of the admin API, as far as commands print them. */
import type { PeoplesPrice } from '../catalog/price-text.ts';

export interface ShownAccount {
  id: string;
  name: string;
  available: string;
  held: string;
  createdAt: string;
  disabledAt?: string;
}

export interface ShownKey {
  id: string;
  account: string;
  kind: string;
  name: string;
  last4: string;
  createdAt: string;
  expiresAt?: string;
  disabledAt?: string;
  /** Only of a new key. */
  key?: string;
}

export interface ShownEntry {
  amount: string;
  balanceAfter: string;
}

export interface ShownCode {
  id: string;
  last4: string;
  amount: string;
  createdAt: string;
  expiresAt?: string;
  redeemedAt?: string;
  redeemedBy?: string;
  note?: string;
  /** Only of a new code. */
  code?: string;
}

export interface ShownModel {
  name: string;
  aliases?: string[];
  fallbacks?: { model: string }[];
  kind: string;
  price?: PeoplesPrice;
  targets: { provider: string; model: string }[];
}

export interface ShownCall {
  id: string;
  account: string;
  at: string;
  model: string;
  provider: string;
  status: number;
  outcome: string;
  errorCode?: string | null;
  cost: string;
  saved?: string;
  durationMs: number;
  dispute?: { claimed: string; charged: string; decision?: string };
}

export interface ShownUsage {
  account?: string;
  key?: string;
  model?: string;
  provider?: string;
  tag?: string;
  day?: string;
  hour?: string;
  calls: number;
  cost: string;
  input_tokens: number;
  output_tokens: number;
  saved: string;
  margin: string | null;
}

export interface ShownChange {
  id: string;
  at: string;
  actor: string;
  action: string;
  subject: string;
  before?: object;
  after?: object;
}

export interface ShownApplied {
  providers: { added: string[]; changed: string[] };
  models: { added: string[]; changed: string[]; repriced: string[] };
  messages: { level: string; message: string }[];
}

interface ShownFailure {
  code: string;
  status: number;
  message: string;
}

interface ShownCheck {
  check: string;
  of: string;
  window?: string;
  limit?: number | string;
  used?: number | string;
  needs?: number | string;
  passes: boolean;
  reason: string;
}

export interface ShownExplanation {
  models: {
    name: string;
    on?: string[];
    amount?: string;
    targets: { provider: string; model: string; format?: string }[];
    error?: ShownFailure;
  }[];
  cache?: string;
  hold?: string;
  available: string;
  checks: ShownCheck[];
  error?: ShownFailure;
}

export interface ShownTarget {
  id: string;
  phase: string;
  calls: number;
  errorRate: number;
  inFlight: number;
  firstTokenMs?: number;
  nextProbeAt?: string;
  queued: number;
}
