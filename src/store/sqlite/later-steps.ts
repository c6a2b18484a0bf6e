/** The newer steps of the SQLite schema, after those in `migrations.ts`. Never edit a released step; add a new one at the end. */
import type { MigrationStep } from '../migration-plan.ts';

export const LATER_STEPS: readonly MigrationStep[] = [
  // Other names of models, models that answer in their place, and the names that a key gives to models.
  `
  ALTER TABLE models ADD COLUMN aliases TEXT;
  ALTER TABLE models ADD COLUMN fallbacks TEXT;
  ALTER TABLE keys ADD COLUMN aliases TEXT;
  `,
  // Whether a key's requests may say which providers answer.
  'ALTER TABLE keys ADD COLUMN caller_routing INTEGER;',
  // How a model's streams survive a target that breaks off.
  'ALTER TABLE models ADD COLUMN continuation TEXT;',
  // How a model's targets are chosen, and what a provider takes at once.
  `
  ALTER TABLE models ADD COLUMN routing TEXT NOT NULL DEFAULT '{}';
  ALTER TABLE providers ADD COLUMN limits TEXT NOT NULL DEFAULT '{}';
  `,
  // Replies that are given again to the same request.
  `
  ALTER TABLE keys ADD COLUMN cache_seconds INTEGER;
  CREATE TABLE cached_replies (
    account TEXT NOT NULL,
    hash TEXT NOT NULL,
    at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (account, hash)
  ) STRICT;
  CREATE INDEX cached_replies_by_expiry ON cached_replies (expires_at);
  CREATE INDEX cached_replies_by_age ON cached_replies (account, at, hash, bytes);
  `,
  // What the caches of providers and our own have saved.
  `
  ALTER TABLE calls ADD COLUMN saved INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE call_sums ADD COLUMN saved INTEGER NOT NULL DEFAULT 0;
  `,
  // Calls that are recorded and not yet in `calls`, `entries` and `call_sums`.
  `
  CREATE TABLE unfiled_calls (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
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
    entry_seq INTEGER,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    provisional INTEGER NOT NULL,
    completion_seq INTEGER,
    saved INTEGER NOT NULL,
    charge INTEGER,
    balance_after INTEGER,
    charged_at INTEGER,
    hash TEXT
  ) STRICT;
  `,
  // Receipts and tags of calls, calls that were refused before they were admitted, and indexes for what admins look for.
  `
  ALTER TABLE calls ADD COLUMN receipt TEXT;
  ALTER TABLE unfiled_calls ADD COLUMN receipt TEXT;
  ALTER TABLE unfiled_calls ADD COLUMN tags TEXT;
  CREATE INDEX calls_by_provider ON calls (provider, at, id);
  CREATE INDEX calls_by_outcome ON calls (outcome, at, id) WHERE outcome <> 'ok';
  CREATE INDEX calls_by_status ON calls (status, at, id) WHERE status <> 200;
  CREATE INDEX calls_by_error ON calls (error_code, at, id) WHERE error_code IS NOT NULL;
  CREATE TABLE call_tags (
    tag TEXT NOT NULL,
    at INTEGER NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (tag, at, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX call_tags_by_time ON call_tags (at);
  CREATE TABLE refused_calls (
    id TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    account TEXT,
    key TEXT,
    model TEXT,
    dialect TEXT NOT NULL,
    stream INTEGER NOT NULL,
    status INTEGER NOT NULL,
    error_code TEXT NOT NULL,
    duration_ms INTEGER NOT NULL,
    receipt TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX refused_calls_by_time ON refused_calls (at, id);
  `,
  // Calls of one key, also of one that is rarely used.
  'CREATE INDEX calls_by_key ON calls (key, at, id);',
  // What providers charge, and sums by provider and tag. Earlier calls are not added: with five million it took 48 s on SQLite.
  `
  ALTER TABLE calls ADD COLUMN provider_cost INTEGER;
  ALTER TABLE unfiled_calls ADD COLUMN provider_cost INTEGER;
  ALTER TABLE call_sums ADD COLUMN provider_cost INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE call_sums ADD COLUMN costed_calls INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE call_sums ADD COLUMN costed_charge INTEGER NOT NULL DEFAULT 0;
  CREATE TABLE usage_sums (
    account TEXT NOT NULL,
    hour INTEGER NOT NULL,
    key TEXT NOT NULL,
    model TEXT NOT NULL,
    provider TEXT NOT NULL,
    tag TEXT NOT NULL,
    calls INTEGER NOT NULL,
    cost INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    saved INTEGER NOT NULL,
    provider_cost INTEGER NOT NULL,
    costed_calls INTEGER NOT NULL,
    costed_charge INTEGER NOT NULL,
    PRIMARY KEY (account, hour, key, model, provider, tag)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX usage_sums_by_hour ON usage_sums (hour) WHERE tag = '';
  CREATE INDEX usage_sums_by_tag ON usage_sums (tag, hour) WHERE tag <> '';
  `,
  // Prices that begin later, the files that prices come from, and groups of accounts that pay list prices times a factor.
  `
  ALTER TABLE prices ADD COLUMN effective_at INTEGER;
  ALTER TABLE prices ADD COLUMN source TEXT;
  ALTER TABLE models ADD COLUMN scheduled TEXT;
  ALTER TABLE accounts ADD COLUMN price_group TEXT;
  CREATE TABLE price_groups (
    name TEXT PRIMARY KEY,
    factor TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  // Alerts: channels, settings of rules, what was raised, and the outbox.
  `
  CREATE TABLE alert_channels (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    settings TEXT NOT NULL,
    secrets TEXT NOT NULL,
    rules TEXT,
    enabled INTEGER NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX alert_channels_by_name ON alert_channels (name);
  CREATE TABLE alert_rules (
    rule TEXT PRIMARY KEY,
    settings TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE alerts (
    id TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    rule TEXT NOT NULL,
    severity TEXT NOT NULL,
    subject TEXT NOT NULL,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    data TEXT NOT NULL,
    dedupe TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX alerts_by_key ON alerts (dedupe);
  CREATE INDEX alerts_by_time ON alerts (at, id);
  CREATE INDEX alerts_by_subject ON alerts (rule, subject, at);
  CREATE TABLE alert_deliveries (
    id TEXT PRIMARY KEY,
    alert TEXT NOT NULL,
    channel TEXT NOT NULL,
    state TEXT NOT NULL,
    tries INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    error TEXT,
    lease TEXT,
    lease_until INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX alert_deliveries_by_alert ON alert_deliveries (alert);
  CREATE INDEX alert_deliveries_due ON alert_deliveries (due_at) WHERE state = 'pending';
  `,
  // People who sign in to the console, and what they sign in with.
  `
  CREATE TABLE people (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    email TEXT UNIQUE,
    language TEXT,
    password_hash TEXT,
    totp_secret TEXT,
    totp_step INTEGER NOT NULL DEFAULT 0,
    recovery_codes TEXT,
    oidc_issuer TEXT,
    oidc_subject TEXT,
    created_at INTEGER NOT NULL,
    seen_at INTEGER,
    disabled_at INTEGER,
    UNIQUE (oidc_issuer, oidc_subject)
  ) STRICT;
  CREATE TABLE memberships (
    person TEXT NOT NULL,
    account TEXT NOT NULL,
    place INTEGER NOT NULL,
    PRIMARY KEY (person, account)
  ) STRICT;
  CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    person TEXT NOT NULL,
    way TEXT NOT NULL,
    at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    ends_at INTEGER NOT NULL,
    address TEXT NOT NULL,
    agent TEXT NOT NULL
  ) STRICT;
  CREATE INDEX sessions_by_person ON sessions (person);
  CREATE TABLE passkeys (
    id TEXT PRIMARY KEY,
    person TEXT NOT NULL,
    credential TEXT NOT NULL UNIQUE,
    public_key TEXT NOT NULL,
    counter INTEGER NOT NULL,
    transports TEXT NOT NULL,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    used_at INTEGER
  ) STRICT;
  CREATE INDEX passkeys_by_person ON passkeys (person);
  CREATE TABLE sign_in_tokens (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    person TEXT,
    body TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE sign_in_failures (
    subject TEXT PRIMARY KEY,
    failures INTEGER NOT NULL,
    last_at INTEGER NOT NULL
  ) STRICT;
  `,
  // Accounts and keys with budgets, which alerts look at.
  `
  CREATE INDEX accounts_with_budget ON accounts (id) WHERE budget_total IS NOT NULL OR budget_day IS NOT NULL OR budget_month IS NOT NULL;
  CREATE INDEX keys_with_budget ON keys (id) WHERE budget_total IS NOT NULL OR budget_day IS NOT NULL OR budget_month IS NOT NULL;
  `,
  // What is stored of the requests and replies of a key.
  'ALTER TABLE keys ADD COLUMN capture TEXT;',
  // The files of the calls of each hour, so that each is written once.
  `
  CREATE TABLE hourly_files (
    hour INTEGER PRIMARY KEY,
    owner TEXT NOT NULL,
    lease_until INTEGER NOT NULL,
    tries INTEGER NOT NULL,
    done INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    at INTEGER NOT NULL,
    error TEXT
  ) STRICT;
  `,
  // What is due of each channel, so that one channel does not hold up the others.
  "CREATE INDEX alert_deliveries_due_of_channel ON alert_deliveries (channel, due_at) WHERE state = 'pending';",
  // Sums for the overview: by model and five minutes with counts of times by range, and by key and day. Earlier calls are added as far as
  // the hourly sums have them.
  `
  CREATE TABLE overview_sums (
    slot INTEGER NOT NULL,
    writer TEXT NOT NULL,
    model TEXT NOT NULL,
    calls INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    cost INTEGER NOT NULL DEFAULT 0,
    saved INTEGER NOT NULL DEFAULT 0,
    input_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    cached_tokens INTEGER NOT NULL DEFAULT 0,
    cache_write_tokens INTEGER NOT NULL DEFAULT 0,
    reasoning_tokens INTEGER NOT NULL DEFAULT 0,
    first_0 INTEGER NOT NULL DEFAULT 0, first_1 INTEGER NOT NULL DEFAULT 0, first_2 INTEGER NOT NULL DEFAULT 0, first_3 INTEGER NOT NULL DEFAULT 0, first_4 INTEGER NOT NULL DEFAULT 0, first_5 INTEGER NOT NULL DEFAULT 0, first_6 INTEGER NOT NULL DEFAULT 0, first_7 INTEGER NOT NULL DEFAULT 0, first_8 INTEGER NOT NULL DEFAULT 0, first_9 INTEGER NOT NULL DEFAULT 0, first_10 INTEGER NOT NULL DEFAULT 0, first_11 INTEGER NOT NULL DEFAULT 0, first_12 INTEGER NOT NULL DEFAULT 0, first_13 INTEGER NOT NULL DEFAULT 0, first_14 INTEGER NOT NULL DEFAULT 0, first_15 INTEGER NOT NULL DEFAULT 0, first_16 INTEGER NOT NULL DEFAULT 0, first_17 INTEGER NOT NULL DEFAULT 0, first_18 INTEGER NOT NULL DEFAULT 0,
    took_0 INTEGER NOT NULL DEFAULT 0, took_1 INTEGER NOT NULL DEFAULT 0, took_2 INTEGER NOT NULL DEFAULT 0, took_3 INTEGER NOT NULL DEFAULT 0, took_4 INTEGER NOT NULL DEFAULT 0, took_5 INTEGER NOT NULL DEFAULT 0, took_6 INTEGER NOT NULL DEFAULT 0, took_7 INTEGER NOT NULL DEFAULT 0, took_8 INTEGER NOT NULL DEFAULT 0, took_9 INTEGER NOT NULL DEFAULT 0, took_10 INTEGER NOT NULL DEFAULT 0, took_11 INTEGER NOT NULL DEFAULT 0, took_12 INTEGER NOT NULL DEFAULT 0, took_13 INTEGER NOT NULL DEFAULT 0, took_14 INTEGER NOT NULL DEFAULT 0, took_15 INTEGER NOT NULL DEFAULT 0, took_16 INTEGER NOT NULL DEFAULT 0, took_17 INTEGER NOT NULL DEFAULT 0, took_18 INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (slot, writer, model)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO overview_sums (slot, writer, model, calls, cost, saved, input_tokens, output_tokens)
    SELECT hour * 12, '', model, sum(calls), sum(cost), sum(saved), sum(input_tokens), sum(output_tokens)
    FROM call_sums WHERE true GROUP BY 1, 2, 3;
  CREATE TABLE key_days (
    day INTEGER NOT NULL,
    account TEXT NOT NULL,
    key TEXT NOT NULL,
    calls INTEGER NOT NULL,
    cost INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    PRIMARY KEY (day, account, key)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO key_days (day, account, key, calls, cost, tokens)
    SELECT hour / 24, account, key, sum(calls), sum(cost), sum(input_tokens + output_tokens)
    FROM call_sums WHERE true GROUP BY 1, 2, 3;
  `,
  // The host that a passkey was made for, whether it may be copied to other devices, and whether it was.
  `
  ALTER TABLE passkeys ADD COLUMN host TEXT NOT NULL DEFAULT '';
  ALTER TABLE passkeys ADD COLUMN is_syncable INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE passkeys ADD COLUMN is_synced INTEGER NOT NULL DEFAULT 0;
  `,
  // Who has registered, so that each mailbox gets one credit, and what was given away on each day.
  `
  CREATE TABLE registrations (
    mailbox TEXT PRIMARY KEY,
    person TEXT NOT NULL,
    account TEXT NOT NULL,
    at INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE registration_days (
    day INTEGER PRIMARY KEY,
    people INTEGER NOT NULL,
    credit INTEGER NOT NULL
  ) STRICT;
  `,
  // Sums of whole days for reports. They are filled after the start, day by day, from the hourly sums.
  `
  CREATE TABLE usage_days (
    day INTEGER NOT NULL,
    account TEXT NOT NULL,
    key TEXT NOT NULL,
    model TEXT NOT NULL,
    provider TEXT NOT NULL,
    tag TEXT NOT NULL,
    calls INTEGER NOT NULL,
    cost INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    saved INTEGER NOT NULL,
    provider_cost INTEGER NOT NULL,
    costed_calls INTEGER NOT NULL,
    costed_charge INTEGER NOT NULL,
    PRIMARY KEY (day, account, key, model, provider, tag)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX usage_days_of_account ON usage_days (account, day);
  CREATE TABLE usage_days_done (
    day INTEGER PRIMARY KEY,
    done INTEGER NOT NULL,
    round INTEGER NOT NULL
  ) STRICT;
  `,
];
