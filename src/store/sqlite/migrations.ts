/** The SQLite schema as numbered steps, forward only. Never edit a released step; add a new one. */
import { raw } from '../database.ts';
import {
  type AppliedStep,
  type MigrationStep,
  pendingSteps,
  READ_STEPS,
  rememberSteps,
  type SchemaState,
  schemaState,
  statementsOf,
} from '../migration-plan.ts';
import type { SqliteConnection } from './connection.ts';
import { foldedStatements } from './folded-steps.ts';
import { LATER_STEPS } from './later-steps.ts';

/** Step n brings a database from version n - 1 to n. */
export const STEPS: readonly MigrationStep[] = [
  `
  CREATE TABLE generation (value INTEGER NOT NULL) STRICT;
  INSERT INTO generation VALUES (0);

  CREATE TABLE accounts (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    balance INTEGER NOT NULL,
    held INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    last_hash TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX accounts_by_name ON accounts (name);

  CREATE TABLE keys (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    account TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    last4 TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    disabled_at INTEGER,
    models TEXT,
    addresses TEXT,
    scopes TEXT,
    budget_total INTEGER,
    budget_day INTEGER,
    budget_month INTEGER,
    requests_per_minute INTEGER,
    tokens_per_minute INTEGER,
    concurrency INTEGER
  ) STRICT;
  CREATE INDEX keys_by_account ON keys (account);

  CREATE TABLE spendings (
    key TEXT PRIMARY KEY,
    held INTEGER NOT NULL,
    total INTEGER NOT NULL,
    day INTEGER NOT NULL,
    day_spent INTEGER NOT NULL,
    month INTEGER NOT NULL,
    month_spent INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE entries (
    account TEXT NOT NULL,
    seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    amount INTEGER NOT NULL,
    balance_after INTEGER NOT NULL,
    counter TEXT NOT NULL,
    call_id TEXT,
    note TEXT,
    idempotency_key TEXT,
    at INTEGER NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (account, seq)
  ) STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX entries_by_idempotency_key ON entries (account, idempotency_key)
    WHERE idempotency_key IS NOT NULL;

  CREATE TABLE holds (
    call_id TEXT PRIMARY KEY,
    account TEXT NOT NULL,
    key TEXT NOT NULL,
    amount INTEGER NOT NULL,
    model TEXT NOT NULL,
    price_id TEXT NOT NULL,
    at INTEGER NOT NULL,
    owner TEXT NOT NULL,
    sent_at INTEGER,
    checkpoint INTEGER
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE owners (
    owner TEXT PRIMARY KEY,
    at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE calls (
    id TEXT PRIMARY KEY,
    account TEXT NOT NULL,
    key TEXT NOT NULL,
    at INTEGER NOT NULL,
    model TEXT NOT NULL,
    provider TEXT NOT NULL,
    target_model TEXT NOT NULL,
    dialect TEXT NOT NULL,
    upstream_dialect TEXT NOT NULL,
    stream INTEGER NOT NULL,
    status INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    error_code TEXT,
    attempts INTEGER NOT NULL,
    cost INTEGER NOT NULL,
    price_id TEXT NOT NULL,
    usage TEXT,
    duration_ms INTEGER NOT NULL,
    first_byte_ms INTEGER,
    entry_seq INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX calls_by_account ON calls (account, at);

  CREATE TABLE prices (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    model TEXT NOT NULL,
    components TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE providers (
    name TEXT PRIMARY KEY,
    type TEXT NOT NULL,
    base_url TEXT,
    credentials TEXT NOT NULL,
    settings TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE models (
    name TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    price_id TEXT NOT NULL,
    max_output_tokens INTEGER,
    context_tokens INTEGER,
    display_name TEXT,
    owned_by TEXT NOT NULL,
    on_disconnect TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    targets TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  ALTER TABLE accounts ADD COLUMN disabled_at INTEGER;
  ALTER TABLE accounts ADD COLUMN budget_total INTEGER;
  ALTER TABLE accounts ADD COLUMN budget_day INTEGER;
  ALTER TABLE accounts ADD COLUMN budget_month INTEGER;
  ALTER TABLE accounts ADD COLUMN requests_per_minute INTEGER;
  ALTER TABLE accounts ADD COLUMN tokens_per_minute INTEGER;
  ALTER TABLE accounts ADD COLUMN concurrency INTEGER;
  ALTER TABLE accounts ADD COLUMN spent INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE accounts ADD COLUMN day INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE accounts ADD COLUMN day_spent INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE accounts ADD COLUMN month INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE accounts ADD COLUMN month_spent INTEGER NOT NULL DEFAULT 0;
  UPDATE accounts SET
    spent = coalesce((SELECT -sum(amount) FROM entries WHERE account = accounts.id AND kind = 'charge'), 0),
    day = coalesce((SELECT max(day) FROM spendings JOIN keys ON keys.id = key WHERE account = accounts.id), 0),
    month = coalesce((SELECT max(month) FROM spendings JOIN keys ON keys.id = key WHERE account = accounts.id), 0);
  UPDATE accounts SET
    day_spent = coalesce((SELECT sum(day_spent) FROM spendings JOIN keys ON keys.id = key
      WHERE account = accounts.id AND spendings.day = accounts.day), 0),
    month_spent = coalesce((SELECT sum(month_spent) FROM spendings JOIN keys ON keys.id = key
      WHERE account = accounts.id AND spendings.month = accounts.month), 0);

  ALTER TABLE keys ADD COLUMN prior_hash TEXT;
  ALTER TABLE keys ADD COLUMN prior_until INTEGER;
  CREATE UNIQUE INDEX keys_by_prior_hash ON keys (prior_hash) WHERE prior_hash IS NOT NULL;

  CREATE TABLE audits (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    before TEXT,
    after TEXT
  ) STRICT;
  CREATE INDEX audits_by_subject ON audits (subject);
  `,
  `
  CREATE TABLE responses (
    account TEXT NOT NULL,
    id TEXT NOT NULL,
    previous TEXT,
    at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    kept_until INTEGER NOT NULL,
    maker TEXT,
    input TEXT NOT NULL,
    output TEXT NOT NULL,
    reply TEXT NOT NULL,
    PRIMARY KEY (account, id)
  ) STRICT;
  CREATE INDEX responses_by_previous ON responses (account, previous) WHERE previous IS NOT NULL;
  CREATE INDEX responses_by_expiry ON responses (expires_at);
  CREATE INDEX responses_by_end ON responses (kept_until);

  CREATE TABLE response_items (
    account TEXT NOT NULL,
    item TEXT NOT NULL,
    response TEXT NOT NULL,
    PRIMARY KEY (account, item)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX response_items_by_response ON response_items (account, response);

  CREATE TABLE proofs (
    account TEXT NOT NULL,
    key TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (account, key)
  ) STRICT;
  CREATE INDEX proofs_by_expiry ON proofs (expires_at);
  `,
  `
  UPDATE accounts SET name = name || ' (' || id || ')'
    WHERE EXISTS (SELECT 1 FROM accounts AS first WHERE first.name = accounts.name AND first.seq < accounts.seq);
  DROP INDEX accounts_by_name;
  CREATE UNIQUE INDEX accounts_by_name ON accounts (name);

  ALTER TABLE calls ADD COLUMN input_tokens INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE calls ADD COLUMN output_tokens INTEGER NOT NULL DEFAULT 0;
  UPDATE calls SET
    input_tokens = min(max(coalesce(usage ->> 'input', 0), 0), 1099511627776),
    output_tokens = min(max(coalesce(usage ->> 'output', 0), 0), 1099511627776)
    WHERE usage IS NOT NULL;
  CREATE INDEX calls_by_time ON calls (at);
  CREATE TABLE call_sums (
    account TEXT NOT NULL,
    hour INTEGER NOT NULL,
    key TEXT NOT NULL,
    model TEXT NOT NULL,
    calls INTEGER NOT NULL,
    cost INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    PRIMARY KEY (account, hour, key, model)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO call_sums SELECT account, at / 3600000, key, model, count(*), sum(cost), sum(input_tokens), sum(output_tokens)
    FROM calls GROUP BY 1, 2, 3, 4;
  CREATE TABLE kept_from (at INTEGER NOT NULL) STRICT;
  INSERT INTO kept_from VALUES (0);

  CREATE INDEX entries_by_corrected_call ON entries (call_id) WHERE call_id IS NOT NULL AND kind <> 'charge';
  CREATE TABLE codes (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    hash TEXT NOT NULL UNIQUE,
    last4 TEXT NOT NULL,
    amount INTEGER NOT NULL,
    note TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    redeemed_at INTEGER,
    redeemed_by TEXT
  ) STRICT;
  `,
  `
  CREATE TABLE tasks (
    id TEXT PRIMARY KEY,
    account TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    idempotency_key TEXT,
    due_at INTEGER,
    lease TEXT,
    lease_until INTEGER,
    body TEXT NOT NULL,
    request TEXT
  ) STRICT;
  CREATE UNIQUE INDEX tasks_by_key ON tasks (account, idempotency_key) WHERE idempotency_key IS NOT NULL;
  CREATE INDEX tasks_by_account ON tasks (account, created_at, id);
  CREATE INDEX tasks_due ON tasks (due_at) WHERE due_at IS NOT NULL;

  CREATE TABLE webhook_secrets (
    account TEXT PRIMARY KEY,
    secret TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  CREATE INDEX tasks_leased ON tasks (lease) WHERE lease IS NOT NULL;
  `,
  `
  ALTER TABLE models ADD COLUMN max_images INTEGER;
  `,
  `
  ALTER TABLE codes ADD COLUMN idempotency_key TEXT;
  CREATE UNIQUE INDEX codes_by_idempotency_key ON codes (idempotency_key);
  `,
  `
  CREATE TABLE probes (
    name TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    body BLOB NOT NULL
  ) STRICT;
  `,
  `
  CREATE TABLE config_files (
    fingerprint TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    host TEXT NOT NULL,
    seen_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  ALTER TABLE calls ADD COLUMN provisional INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE calls ADD COLUMN completion_seq INTEGER;
  ALTER TABLE owners ADD COLUMN ended_at INTEGER;
  `,
  // Disputed calls are rare, and this index finds them among all calls.
  `
  CREATE INDEX calls_disputed ON calls (at, id) WHERE outcome = 'disputed';
  `,
  `
  CREATE INDEX call_sums_by_hour ON call_sums (hour);
  CREATE TABLE ledger_checkpoints (
    signer TEXT NOT NULL,
    subject TEXT NOT NULL,
    body TEXT NOT NULL,
    signature TEXT NOT NULL,
    PRIMARY KEY (signer, subject)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE ledger_verifications (
    name TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    lease_until INTEGER NOT NULL,
    done INTEGER NOT NULL,
    total INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  // The spending windows that were used before the current ones.
  `
  ALTER TABLE accounts ADD COLUMN prior_day INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE accounts ADD COLUMN prior_day_spent INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE accounts ADD COLUMN prior_month INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE accounts ADD COLUMN prior_month_spent INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE accounts ADD COLUMN late_since INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE spendings ADD COLUMN prior_day INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE spendings ADD COLUMN prior_day_spent INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE spendings ADD COLUMN prior_month INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE spendings ADD COLUMN prior_month_spent INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE spendings ADD COLUMN late_since INTEGER NOT NULL DEFAULT 0;
  `,
  ...LATER_STEPS,
];

/** The first versions recorded only the version number. */
function versionOf({ file }: SqliteConnection, applied: readonly AppliedStep[]): number {
  const own = file.query<{ user_version: number }, []>('PRAGMA user_version').get()?.user_version ?? 0;
  return Math.max(own, Number(applied.at(-1)?.version ?? 0n));
}

/** Applies missing steps under the write lock, all or the first `upTo`. Throws an Error if the schema is not one of this code. */
export async function migrateSqlite(db: SqliteConnection, upTo = STEPS.length): Promise<void> {
  const steps = STEPS.slice(0, upTo);
  const { file, transact, run } = db;
  await transact(() => {
    run(raw('CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL) STRICT'));
    // Not cached: a prepared statement would keep the earlier columns.
    const columns = file.prepare<{ name: string }, []>('PRAGMA table_info(migrations)').all();
    if (!columns.some(({ name }) => name === 'minimum')) file.run('ALTER TABLE migrations ADD COLUMN minimum INTEGER');
    const applied = run<AppliedStep>(READ_STEPS);
    const version = versionOf(db, applied);
    const pending = pendingSteps(steps, version, applied);
    for (const text of version === 0 ? foldedStatements(pending.flatMap(statementsOf)) : pending) file.run(text);
    for (const statement of rememberSteps(steps)) run(statement);
    if (version < upTo) file.run(`PRAGMA user_version = ${upTo}`);
  });
}

async function appliedSteps(db: SqliteConnection): Promise<AppliedStep[]> {
  const [table] = await db.all(raw("SELECT 1 FROM pragma_table_info('migrations') WHERE name = 'minimum'"));
  return table ? await db.all<AppliedStep>(READ_STEPS) : [];
}

/** Throws if the database does not answer. */
export async function sqliteSchema(db: SqliteConnection): Promise<SchemaState> {
  const applied = await appliedSteps(db);
  return schemaState(STEPS, versionOf(db, applied), applied);
}

/** The number of applied steps; 0 without tables. */
export async function sqliteVersion(db: SqliteConnection): Promise<number> {
  return versionOf(db, await appliedSteps(db));
}
