/** Counts what calls, their attempts and their refusals were. A sink of the events. */
import type { Usage } from '../../canonical/usage.ts';
import type { AttemptRecord } from '../../routing/tracked-attempt.ts';
import type { CallOutcome, CallRow } from '../../store/rows.ts';
import { Counter, Histogram, type MetricFamily, OTHER, type Sample } from './family.ts';

/** The buckets that the GenAI conventions of OpenTelemetry recommend, and longer ones for durations: an agent's call takes minutes. */
const DURATIONS = Float64Array.of(
  ...[0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 163.84, 327.68],
);
const FIRST_TOKENS = Float64Array.of(
  ...[0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30],
);
const PER_TOKEN = Float64Array.of(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 1);

/** Tokens by kind; each token is counted once. */
const TOKEN_TYPES = ['input', 'cached_input', 'cache_write', 'output', 'reasoning'] as const;
const OUTCOMES = ['ok', 'refused', 'failed', 'broken', 'aborted', 'interrupted', 'disputed'] as const;
const OUTCOME_INDEX: { readonly [outcome in CallOutcome]: number } = {
  ok: 0,
  refused: 1,
  failed: 2,
  broken: 3,
  aborted: 4,
  interrupted: 5,
  disputed: 6,
};

/** Series for so many pairs of model and provider; what is beyond is counted together. One pair is about 50 lines of a scrape. */
const MOST_PAIRS = 300;
const NO_PROVIDER = 'none';

/** What is counted of the calls of one model at one provider. */
class PairCounts {
  readonly duration = new Histogram(DURATIONS);
  readonly outcomes = new Float64Array(OUTCOMES.length);
  readonly tokens = new Float64Array(TOKEN_TYPES.length);
  readonly labels: readonly [model: string, provider: string];
  /** Only of models that are streamed. */
  firstToken: Histogram | undefined;
  perToken: Histogram | undefined;
  /** A metric needs no exact arithmetic; the ledger has the exact amounts. */
  nanoUsd = 0;
  cacheHits = 0;

  constructor(model: string, provider: string) {
    this.labels = [model, provider];
  }
}

export interface CallMetrics {
  /** A call or a task has ended. */
  called(record: CallRow): void;
  attempted(attempt: AttemptRecord): void;
  refused(reason: string): void;
  families(): MetricFamily[];
}

/** `configured`: the name of the model as the operator wrote it; `undefined`: there is no such model any more. */
export function createCallMetrics(configured: (model: string) => string | undefined): CallMetrics {
  const models = new Map<string, Map<string, PairCounts>>();
  const attempts = new Map<string, { outcomes: Counter; errors: Counter }>();
  const errors = new Counter();
  const refusals = new Counter();
  let pairs = 0;

  function countsOf(model: string, provider: string): PairCounts {
    let providers = models.get(model);
    const known = providers?.get(provider);
    if (known) return known;
    if (pairs >= MOST_PAIRS && model !== OTHER) return countsOf(OTHER, OTHER);
    if (!providers) {
      providers = new Map();
      models.set(model, providers);
    }
    const counts = new PairCounts(model, provider);
    providers.set(provider, counts);
    pairs++;
    return counts;
  }

  function called(record: CallRow): void {
    const { usage, outcome } = record;
    const counts = countsOf(configured(record.model) ?? OTHER, record.provider || NO_PROVIDER);
    counts.outcomes[OUTCOME_INDEX[outcome]]! += 1;
    counts.duration.observe(record.durationMs / 1000);
    counts.nanoUsd += Number(record.cost);
    if (record.errorCode !== undefined) errors.add(record.errorCode);
    if (usage?.source === 'cached') {
      counts.cacheHits++;
      return;
    }
    if (usage) countTokens(counts.tokens, usage);
    if (record.stream) countStream(counts, record);
  }

  function attempted({ target, outcome, errorCode }: AttemptRecord): void {
    let counts = attempts.get(target.provider);
    if (!counts) {
      if (attempts.size >= MOST_PAIRS && target.provider !== OTHER) {
        attempted({ target: { ...target, provider: OTHER }, outcome, errorCode } as AttemptRecord);
        return;
      }
      counts = { outcomes: new Counter(), errors: new Counter() };
      attempts.set(target.provider, counts);
    }
    if (outcome === 'failed') counts.errors.add(errorCode ?? OTHER);
    else counts.outcomes.add(outcome);
  }

  return {
    called,
    attempted,
    refused: (reason) => refusals.add(reason),
    families() {
      const all = [...models.values()].flatMap((providers) => [...providers.values()]);
      return [
        ...histograms(all),
        ...counters(all),
        {
          name: 'modelport_attempts_total',
          type: 'counter',
          help: 'Attempts at targets, by provider and outcome (ok, failed, cancelled); of failed ones also the error code.',
          labels: ['provider', 'outcome', 'error'],
          samples: [...attempts].flatMap(([provider, { outcomes, errors }]) => [
            ...outcomes.samples().map((one): Sample => ({ ...one, labels: [provider, ...one.labels, ''] })),
            ...errors.samples().map((one): Sample => ({ ...one, labels: [provider, 'failed', ...one.labels] })),
          ]),
        },
        {
          name: 'modelport_errors_total',
          type: 'counter',
          help: 'Admitted calls that failed, by error code.',
          labels: ['code'],
          samples: errors.samples(),
        },
        {
          name: 'modelport_refusals_total',
          type: 'counter',
          help: 'Calls that were not admitted, by reason: the error code.',
          labels: ['reason'],
          samples: refusals.samples(),
        },
      ];
    },
  };
}

function countTokens(tokens: Float64Array, usage: Usage): void {
  const { cachedInput = 0, cacheWrite = 0, cacheWriteHour = 0, reasoning = 0 } = usage;
  const written = cacheWrite + cacheWriteHour;
  tokens[0]! += Math.max(0, usage.input - cachedInput - written);
  tokens[1]! += cachedInput;
  tokens[2]! += written;
  tokens[3]! += Math.max(0, usage.output - reasoning);
  tokens[4]! += reasoning;
}

function countStream(counts: PairCounts, { firstByteMs, durationMs, usage, outcome }: CallRow): void {
  if (firstByteMs === undefined) return;
  counts.firstToken ??= new Histogram(FIRST_TOKENS);
  counts.firstToken.observe(firstByteMs / 1000);
  const output = usage?.output ?? 0;
  // A stream that broke off waited for tokens that never came.
  if (outcome !== 'ok' || output < 2) return;
  counts.perToken ??= new Histogram(PER_TOKEN);
  counts.perToken.observe(Math.max(0, durationMs - firstByteMs) / 1000 / (output - 1));
}

const PAIR = ['model', 'provider'] as const;

function histograms(all: readonly PairCounts[]): MetricFamily[] {
  const family = (name: string, help: string, of: (counts: PairCounts) => Histogram | undefined): MetricFamily => ({
    name,
    type: 'histogram',
    help,
    labels: PAIR,
    samples: all.flatMap((counts) => of(counts)?.sample(counts.labels) ?? []),
  });
  return [
    family(
      'modelport_request_duration_seconds',
      'Duration of admitted calls, from the request to the end of the response.',
      ({ duration }) => duration,
    ),
    family(
      'modelport_time_to_first_token_seconds',
      'Time from the request to the first bytes of the response, of streams.',
      ({ firstToken }) => firstToken,
    ),
    family(
      'modelport_time_per_output_token_seconds',
      'Time per output token after the first, of finished streams.',
      ({ perToken }) => perToken,
    ),
  ];
}

function counters(all: readonly PairCounts[]): MetricFamily[] {
  const family = (name: string, help: string, of: (counts: PairCounts) => number): MetricFamily => ({
    name,
    type: 'counter',
    help,
    labels: PAIR,
    samples: all.flatMap((counts) => (of(counts) > 0 ? { labels: counts.labels, value: of(counts) } : [])),
  });
  const split = (
    name: string,
    help: string,
    label: string,
    values: readonly string[],
    of: (counts: PairCounts) => Float64Array,
  ): MetricFamily => ({
    name,
    type: 'counter',
    help,
    labels: [...PAIR, label],
    samples: all.flatMap((counts) =>
      values.flatMap((value, at) => {
        const count = of(counts)[at] ?? 0;
        return count > 0 ? { labels: [...counts.labels, value], value: count } : [];
      }),
    ),
  });
  const calls = (outcome: CallOutcome) => (counts: PairCounts) => counts.outcomes[OUTCOME_INDEX[outcome]] ?? 0;
  return [
    split('modelport_calls_total', 'Admitted calls by outcome.', 'outcome', OUTCOMES, (counts) => counts.outcomes),
    split(
      'modelport_tokens_total',
      'Tokens of admitted calls; each is counted under one type.',
      'type',
      TOKEN_TYPES,
      (counts) => counts.tokens,
    ),
    family('modelport_charged_usd_total', 'Money charged.', ({ nanoUsd }) => nanoUsd / 1e9),
    family(
      'modelport_disputed_calls_total',
      'Calls whose provider reported implausible usage: the hold was charged.',
      calls('disputed'),
    ),
    family('modelport_cache_hits_total', 'Calls answered with a stored reply.', ({ cacheHits }) => cacheHits),
  ];
}
