/** The Postgres schema as numbered steps, forward only. Never edit a released step; add a new one. */
import { putInto, raw, sql } from '../database.ts';
import {
  type AppliedStep,
  type MigrationStep,
  pendingSteps,
  READ_STEPS,
  rememberSteps,
  type SchemaState,
  schemaState,
} from '../migration-plan.ts';
import type { PostgresConnection } from './connection.ts';
import { LATER_STEPS } from './later-steps.ts';

/** All integers are bigint, and all text is compared by bytes, as in SQLite. */
export const STEPS: readonly MigrationStep[] = [
  `
  CREATE TABLE generation (value bigint NOT NULL);
  INSERT INTO generation VALUES (0);

  CREATE TABLE accounts (
    seq bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    id text COLLATE "C" PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE,
    balance bigint NOT NULL,
    held bigint NOT NULL,
    last_seq bigint NOT NULL,
    last_hash text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    disabled_at bigint,
    budget_total bigint,
    budget_day bigint,
    budget_month bigint,
    requests_per_minute bigint,
    tokens_per_minute bigint,
    concurrency bigint,
    spent bigint NOT NULL DEFAULT 0,
    day bigint NOT NULL DEFAULT 0,
    day_spent bigint NOT NULL DEFAULT 0,
    month bigint NOT NULL DEFAULT 0,
    month_spent bigint NOT NULL DEFAULT 0,
    version bigint NOT NULL DEFAULT 0
  ) WITH (fillfactor = 50);

  CREATE TABLE keys (
    seq bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    id text COLLATE "C" PRIMARY KEY,
    account text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    hash text COLLATE "C" NOT NULL UNIQUE,
    last4 text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint,
    disabled_at bigint,
    models text COLLATE "C",
    addresses text COLLATE "C",
    scopes text COLLATE "C",
    budget_total bigint,
    budget_day bigint,
    budget_month bigint,
    requests_per_minute bigint,
    tokens_per_minute bigint,
    concurrency bigint,
    prior_hash text COLLATE "C",
    prior_until bigint
  );
  CREATE INDEX keys_by_account ON keys (account, seq);
  CREATE UNIQUE INDEX keys_by_prior_hash ON keys (prior_hash) WHERE prior_hash IS NOT NULL;

  CREATE TABLE spendings (
    key text COLLATE "C" PRIMARY KEY,
    held bigint NOT NULL,
    total bigint NOT NULL,
    day bigint NOT NULL,
    day_spent bigint NOT NULL,
    month bigint NOT NULL,
    month_spent bigint NOT NULL
  ) WITH (fillfactor = 50);

  CREATE TABLE entries (
    account text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    amount bigint NOT NULL,
    balance_after bigint NOT NULL,
    counter text COLLATE "C" NOT NULL,
    call_id text COLLATE "C",
    note text COLLATE "C",
    idempotency_key text COLLATE "C",
    at bigint NOT NULL,
    hash text COLLATE "C" NOT NULL,
    PRIMARY KEY (account, seq)
  );
  CREATE UNIQUE INDEX entries_by_idempotency_key ON entries (account, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
  CREATE INDEX entries_by_corrected_call ON entries (call_id) WHERE call_id IS NOT NULL AND kind <> 'charge';

  CREATE TABLE holds (
    call_id text COLLATE "C" PRIMARY KEY,
    account text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    amount bigint NOT NULL,
    model text COLLATE "C" NOT NULL,
    price_id text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    owner text COLLATE "C" NOT NULL,
    sent_at bigint,
    checkpoint bigint
  ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);

  CREATE TABLE owners (owner text COLLATE "C" PRIMARY KEY, at bigint NOT NULL);

  CREATE TABLE calls (
    id text COLLATE "C" NOT NULL,
    account text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    model text COLLATE "C" NOT NULL,
    provider text COLLATE "C" NOT NULL,
    target_model text COLLATE "C" NOT NULL,
    dialect text COLLATE "C" NOT NULL,
    upstream_dialect text COLLATE "C" NOT NULL,
    stream bigint NOT NULL,
    status bigint NOT NULL,
    outcome text COLLATE "C" NOT NULL,
    error_code text COLLATE "C",
    attempts bigint NOT NULL,
    cost bigint NOT NULL,
    price_id text COLLATE "C" NOT NULL,
    usage text COLLATE "C",
    duration_ms bigint NOT NULL,
    first_byte_ms bigint,
    entry_seq bigint,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    PRIMARY KEY (id, at)
  ) PARTITION BY RANGE (at);
  CREATE INDEX calls_by_time ON calls (at, id);
  CREATE INDEX calls_by_account ON calls (account, at, id);
  CREATE TABLE calls_of_other_days PARTITION OF calls DEFAULT;

  CREATE TABLE call_sums (
    account text COLLATE "C" NOT NULL,
    hour bigint NOT NULL,
    key text COLLATE "C" NOT NULL,
    model text COLLATE "C" NOT NULL,
    calls bigint NOT NULL,
    cost bigint NOT NULL,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    PRIMARY KEY (account, hour, key, model)
  ) WITH (fillfactor = 70);
  CREATE TABLE kept_from (at bigint NOT NULL);
  INSERT INTO kept_from VALUES (0);

  CREATE TABLE codes (
    seq bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    id text COLLATE "C" PRIMARY KEY,
    hash text COLLATE "C" NOT NULL UNIQUE,
    last4 text COLLATE "C" NOT NULL,
    amount bigint NOT NULL,
    note text COLLATE "C",
    created_at bigint NOT NULL,
    expires_at bigint,
    redeemed_at bigint,
    redeemed_by text COLLATE "C"
  );

  CREATE TABLE prices (
    seq bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    id text COLLATE "C" PRIMARY KEY,
    model text COLLATE "C" NOT NULL,
    components text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL
  );

  CREATE TABLE providers (
    name text COLLATE "C" PRIMARY KEY,
    type text COLLATE "C" NOT NULL,
    base_url text COLLATE "C",
    credentials text COLLATE "C" NOT NULL,
    settings text COLLATE "C" NOT NULL
  );

  CREATE TABLE models (
    name text COLLATE "C" PRIMARY KEY,
    kind text COLLATE "C" NOT NULL,
    price_id text COLLATE "C" NOT NULL,
    max_output_tokens bigint,
    context_tokens bigint,
    display_name text COLLATE "C",
    owned_by text COLLATE "C" NOT NULL,
    on_disconnect text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    targets text COLLATE "C" NOT NULL
  );

  CREATE TABLE audits (
    seq bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    id text COLLATE "C" PRIMARY KEY,
    at bigint NOT NULL,
    actor text COLLATE "C" NOT NULL,
    action text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    before text COLLATE "C",
    after text COLLATE "C"
  );
  CREATE INDEX audits_by_subject ON audits (subject, seq);

  CREATE TABLE responses (
    account text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    previous text COLLATE "C",
    at bigint NOT NULL,
    expires_at bigint NOT NULL,
    kept_until bigint NOT NULL,
    maker text COLLATE "C",
    input text COLLATE "C" NOT NULL,
    output text COLLATE "C" NOT NULL,
    reply text COLLATE "C" NOT NULL,
    PRIMARY KEY (account, id)
  );
  CREATE INDEX responses_by_previous ON responses (account, previous) WHERE previous IS NOT NULL;
  CREATE INDEX responses_by_expiry ON responses (expires_at);
  CREATE INDEX responses_by_end ON responses (kept_until);

  CREATE TABLE response_items (
    account text COLLATE "C" NOT NULL,
    item text COLLATE "C" NOT NULL,
    response text COLLATE "C" NOT NULL,
    PRIMARY KEY (account, item)
  );
  CREATE INDEX response_items_by_response ON response_items (account, response);

  CREATE TABLE proofs (
    account text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    expires_at bigint NOT NULL,
    body text COLLATE "C" NOT NULL,
    PRIMARY KEY (account, key)
  );
  CREATE INDEX proofs_by_expiry ON proofs (expires_at);
  `,
  `
  CREATE TABLE tasks (
    id text COLLATE "C" PRIMARY KEY,
    account text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    idempotency_key text COLLATE "C",
    due_at bigint,
    lease text COLLATE "C",
    lease_until bigint,
    body text COLLATE "C" NOT NULL,
    request text COLLATE "C"
  );
  CREATE UNIQUE INDEX tasks_by_key ON tasks (account, idempotency_key) WHERE idempotency_key IS NOT NULL;
  CREATE INDEX tasks_by_account ON tasks (account, created_at, id);
  CREATE INDEX tasks_due ON tasks (due_at) WHERE due_at IS NOT NULL;

  CREATE TABLE webhook_secrets (
    account text COLLATE "C" PRIMARY KEY,
    secret text COLLATE "C" NOT NULL
  );
  `,
  `
  CREATE INDEX tasks_leased ON tasks (lease) WHERE lease IS NOT NULL;
  `,
  `
  ALTER TABLE models ADD COLUMN max_images bigint;
  `,
  `
  ALTER TABLE codes ADD COLUMN idempotency_key text COLLATE "C";
  CREATE UNIQUE INDEX codes_by_idempotency_key ON codes (idempotency_key);
  `,
  `
  CREATE TABLE probes (name text COLLATE "C" PRIMARY KEY, at bigint NOT NULL) WITH (fillfactor = 50);
  `,
  `
  CREATE TABLE config_files (
    fingerprint text COLLATE "C" PRIMARY KEY,
    name text COLLATE "C" NOT NULL,
    host text COLLATE "C" NOT NULL,
    seen_at bigint NOT NULL
  );
  `,
  `
  ALTER TABLE calls ADD COLUMN provisional bigint NOT NULL DEFAULT 0;
  ALTER TABLE calls ADD COLUMN completion_seq bigint;
  ALTER TABLE owners ADD COLUMN ended_at bigint;
  `,
  // Disputed calls are rare, and this index finds them among all calls.
  `
  CREATE INDEX calls_disputed ON calls (at, id) WHERE outcome = 'disputed';
  `,
  `
  CREATE INDEX call_sums_by_hour ON call_sums (hour);
  CREATE TABLE ledger_checkpoints (
    signer text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    body text COLLATE "C" NOT NULL,
    signature text COLLATE "C" NOT NULL,
    PRIMARY KEY (signer, subject)
  );
  CREATE TABLE ledger_verifications (
    name text COLLATE "C" PRIMARY KEY,
    owner text COLLATE "C" NOT NULL,
    started_at bigint NOT NULL,
    lease_until bigint NOT NULL,
    done bigint NOT NULL,
    total bigint NOT NULL
  );
  `,
  // The spending windows that were used before the current ones.
  `
  ALTER TABLE accounts ADD COLUMN prior_day bigint NOT NULL DEFAULT 0;
  ALTER TABLE accounts ADD COLUMN prior_day_spent bigint NOT NULL DEFAULT 0;
  ALTER TABLE accounts ADD COLUMN prior_month bigint NOT NULL DEFAULT 0;
  ALTER TABLE accounts ADD COLUMN prior_month_spent bigint NOT NULL DEFAULT 0;
  ALTER TABLE accounts ADD COLUMN late_since bigint NOT NULL DEFAULT 0;
  ALTER TABLE spendings ADD COLUMN prior_day bigint NOT NULL DEFAULT 0;
  ALTER TABLE spendings ADD COLUMN prior_day_spent bigint NOT NULL DEFAULT 0;
  ALTER TABLE spendings ADD COLUMN prior_month bigint NOT NULL DEFAULT 0;
  ALTER TABLE spendings ADD COLUMN prior_month_spent bigint NOT NULL DEFAULT 0;
  ALTER TABLE spendings ADD COLUMN late_since bigint NOT NULL DEFAULT 0;
  `,
  ...LATER_STEPS,
];

/** The advisory lock of migrations in this database. An arbitrary number. */
const MIGRATION_LOCK = 7_305_164_320;

/** Applies missing steps, all or the first `upTo`, one process at a time. Throws an Error if the schema is not one of this code. */
export async function migratePostgres({ transact }: PostgresConnection, upTo = STEPS.length): Promise<void> {
  const steps = STEPS.slice(0, upTo);
  await transact(async (run, script) => {
    await run(sql`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
    await run(raw('SET LOCAL statement_timeout = 0'));
    await run(raw('CREATE TABLE IF NOT EXISTS migrations (version bigint PRIMARY KEY, fingerprint text NOT NULL)'));
    await run(raw('ALTER TABLE migrations ADD COLUMN IF NOT EXISTS minimum bigint'));
    const applied = await run<AppliedStep>(READ_STEPS);
    const pending = pendingSteps(steps, Number(applied.at(-1)?.version ?? 0n), applied);
    for (const step of pending) await script(step);
    for (const statement of rememberSteps(steps)) await run(statement);
  });
}

/** Undefined table or undefined column: a database that was never migrated or is too old. */
const NOT_THERE = new Set(['42P01', '42703']);

function appliedSteps({ all }: PostgresConnection): Promise<AppliedStep[]> {
  return all<AppliedStep>(READ_STEPS).catch((thrown) => {
    if (NOT_THERE.has(String((thrown as { errno?: unknown } | undefined)?.errno))) return [];
    throw thrown;
  });
}

/** Throws if the database does not answer. */
export async function postgresSchema(db: PostgresConnection): Promise<SchemaState> {
  const applied = await appliedSteps(db);
  return schemaState(STEPS, Number(applied.at(-1)?.version ?? 0n), applied);
}

/** The number of applied steps; 0 without tables. */
export async function postgresVersion(db: PostgresConnection): Promise<number> {
  return Number((await appliedSteps(db)).at(-1)?.version ?? 0n);
}

/** Writes and commits a row of its own, as a call would. */
export async function probePostgres({ all }: PostgresConnection, at: number): Promise<void> {
  await all(putInto('probes', 'name', { name: 'ready', at }));
}
