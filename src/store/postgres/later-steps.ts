/** The newer steps of the Postgres schema, after those in `migrations.ts`. Never edit a released step; add a new one at the end. */
import type { MigrationStep } from '../migration-plan.ts';

export const LATER_STEPS: readonly MigrationStep[] = [
  // Other names of models, models that answer in their place, and the names that a key gives to models.
  `
  ALTER TABLE models ADD COLUMN aliases text;
  ALTER TABLE models ADD COLUMN fallbacks text;
  ALTER TABLE keys ADD COLUMN aliases text;
  `,
  // Whether a key's requests may say which providers answer.
  'ALTER TABLE keys ADD COLUMN caller_routing bigint;',
  // How a model's streams survive a target that breaks off.
  'ALTER TABLE models ADD COLUMN continuation text;',
  // How a model's targets are chosen, and what a provider takes at once.
  `
  ALTER TABLE models ADD COLUMN routing text NOT NULL DEFAULT '{}';
  ALTER TABLE providers ADD COLUMN limits text NOT NULL DEFAULT '{}';
  `,
  // Replies that are given again to the same request.
  `
  ALTER TABLE keys ADD COLUMN cache_seconds bigint;
  CREATE TABLE cached_replies (
    account text COLLATE "C" NOT NULL,
    hash text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    expires_at bigint NOT NULL,
    bytes bigint NOT NULL,
    body text COLLATE "C" NOT NULL,
    PRIMARY KEY (account, hash)
  );
  CREATE INDEX cached_replies_by_expiry ON cached_replies (expires_at);
  CREATE INDEX cached_replies_by_age ON cached_replies (account, at, hash, bytes);
  `,
  // What the caches of providers and our own have saved.
  `
  ALTER TABLE calls ADD COLUMN saved bigint NOT NULL DEFAULT 0;
  ALTER TABLE call_sums ADD COLUMN saved bigint NOT NULL DEFAULT 0;
  `,
  // Receipts and tags of calls, calls that were refused before they were admitted, and indexes for what admins look for.
  `
  ALTER TABLE calls ADD COLUMN receipt text COLLATE "C";
  CREATE INDEX calls_by_provider ON calls (provider, at, id);
  CREATE INDEX calls_by_outcome ON calls (outcome, at, id) WHERE outcome <> 'ok';
  CREATE INDEX calls_by_status ON calls (status, at, id) WHERE status <> 200;
  CREATE INDEX calls_by_error ON calls (error_code, at, id) WHERE error_code IS NOT NULL;
  CREATE TABLE call_tags (
    tag text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    PRIMARY KEY (tag, at, id)
  );
  CREATE INDEX call_tags_by_time ON call_tags (at);
  CREATE TABLE refused_calls (
    id text COLLATE "C" PRIMARY KEY,
    at bigint NOT NULL,
    account text COLLATE "C",
    key text COLLATE "C",
    model text COLLATE "C",
    dialect text COLLATE "C" NOT NULL,
    stream bigint NOT NULL,
    status bigint NOT NULL,
    error_code text COLLATE "C" NOT NULL,
    duration_ms bigint NOT NULL,
    receipt text COLLATE "C" NOT NULL
  );
  CREATE INDEX refused_calls_by_time ON refused_calls (at, id);
  `,
  // Calls of one key, also of one that is rarely used.
  'CREATE INDEX calls_by_key ON calls (key, at, id);',
  // What providers charge, and sums by provider and tag. Earlier calls are not added: with five million it took 48 s on SQLite.
  `
  ALTER TABLE calls ADD COLUMN provider_cost bigint;
  ALTER TABLE call_sums ADD COLUMN provider_cost bigint NOT NULL DEFAULT 0;
  ALTER TABLE call_sums ADD COLUMN costed_calls bigint NOT NULL DEFAULT 0;
  ALTER TABLE call_sums ADD COLUMN costed_charge bigint NOT NULL DEFAULT 0;
  CREATE TABLE usage_sums (
    account text COLLATE "C" NOT NULL,
    hour bigint NOT NULL,
    key text COLLATE "C" NOT NULL,
    model text COLLATE "C" NOT NULL,
    provider text COLLATE "C" NOT NULL,
    tag text COLLATE "C" NOT NULL,
    calls bigint NOT NULL,
    cost bigint NOT NULL,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    saved bigint NOT NULL,
    provider_cost bigint NOT NULL,
    costed_calls bigint NOT NULL,
    costed_charge bigint NOT NULL,
    PRIMARY KEY (account, hour, key, model, provider, tag)
  );
  CREATE INDEX usage_sums_by_hour ON usage_sums (hour) WHERE tag = '';
  CREATE INDEX usage_sums_by_tag ON usage_sums (tag, hour) WHERE tag <> '';
  `,
  // Prices that begin later, the files that prices come from, and groups of accounts that pay list prices times a factor.
  `
  ALTER TABLE prices ADD COLUMN effective_at bigint;
  ALTER TABLE prices ADD COLUMN source text;
  ALTER TABLE models ADD COLUMN scheduled text;
  ALTER TABLE accounts ADD COLUMN price_group text COLLATE "C";
  CREATE TABLE price_groups (
    name text COLLATE "C" PRIMARY KEY,
    factor text NOT NULL,
    created_at bigint NOT NULL
  );
  `,
  // Alerts: channels, settings of rules, what was raised, and the outbox.
  `
  CREATE TABLE alert_channels (
    id text COLLATE "C" PRIMARY KEY,
    name text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    settings text COLLATE "C" NOT NULL,
    secrets text COLLATE "C" NOT NULL,
    rules text COLLATE "C",
    enabled bigint NOT NULL,
    created_at bigint NOT NULL
  );
  CREATE UNIQUE INDEX alert_channels_by_name ON alert_channels (name);
  CREATE TABLE alert_rules (
    rule text COLLATE "C" PRIMARY KEY,
    settings text COLLATE "C" NOT NULL
  );
  CREATE TABLE alerts (
    id text COLLATE "C" PRIMARY KEY,
    at bigint NOT NULL,
    rule text COLLATE "C" NOT NULL,
    severity text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    title text COLLATE "C" NOT NULL,
    text text COLLATE "C" NOT NULL,
    data text COLLATE "C" NOT NULL,
    dedupe text COLLATE "C"
  );
  CREATE UNIQUE INDEX alerts_by_key ON alerts (dedupe);
  CREATE INDEX alerts_by_time ON alerts (at, id);
  CREATE INDEX alerts_by_subject ON alerts (rule, subject, at);
  CREATE TABLE alert_deliveries (
    id text COLLATE "C" PRIMARY KEY,
    alert text COLLATE "C" NOT NULL,
    channel text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    tries bigint NOT NULL,
    due_at bigint NOT NULL,
    error text COLLATE "C",
    lease text COLLATE "C",
    lease_until bigint
  );
  CREATE INDEX alert_deliveries_by_alert ON alert_deliveries (alert);
  CREATE INDEX alert_deliveries_due ON alert_deliveries (due_at) WHERE state = 'pending';
  `,
  // People who sign in to the console, and what they sign in with.
  `
  CREATE TABLE people (
    id text COLLATE "C" PRIMARY KEY,
    name text COLLATE "C" NOT NULL,
    role text COLLATE "C" NOT NULL,
    email text COLLATE "C" UNIQUE,
    language text COLLATE "C",
    password_hash text COLLATE "C",
    totp_secret text COLLATE "C",
    totp_step bigint NOT NULL DEFAULT 0,
    recovery_codes text COLLATE "C",
    oidc_issuer text COLLATE "C",
    oidc_subject text COLLATE "C",
    created_at bigint NOT NULL,
    seen_at bigint,
    disabled_at bigint,
    UNIQUE (oidc_issuer, oidc_subject)
  );
  CREATE TABLE memberships (
    person text COLLATE "C" NOT NULL,
    account text COLLATE "C" NOT NULL,
    place bigint NOT NULL,
    PRIMARY KEY (person, account)
  );
  CREATE TABLE sessions (
    id text COLLATE "C" PRIMARY KEY,
    hash text COLLATE "C" NOT NULL UNIQUE,
    person text COLLATE "C" NOT NULL,
    way text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    seen_at bigint NOT NULL,
    ends_at bigint NOT NULL,
    address text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL
  );
  CREATE INDEX sessions_by_person ON sessions (person);
  CREATE TABLE passkeys (
    id text COLLATE "C" PRIMARY KEY,
    person text COLLATE "C" NOT NULL,
    credential text COLLATE "C" NOT NULL UNIQUE,
    public_key text COLLATE "C" NOT NULL,
    counter bigint NOT NULL,
    transports text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    used_at bigint
  );
  CREATE INDEX passkeys_by_person ON passkeys (person);
  CREATE TABLE sign_in_tokens (
    id text COLLATE "C" PRIMARY KEY,
    kind text COLLATE "C" NOT NULL,
    hash text COLLATE "C" NOT NULL UNIQUE,
    person text COLLATE "C",
    body text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL
  );
  CREATE TABLE sign_in_failures (
    subject text COLLATE "C" PRIMARY KEY,
    failures bigint NOT NULL,
    last_at bigint NOT NULL
  );
  `,
  // Accounts and keys with budgets, which alerts look at.
  `
  CREATE INDEX accounts_with_budget ON accounts (id) WHERE budget_total IS NOT NULL OR budget_day IS NOT NULL OR budget_month IS NOT NULL;
  CREATE INDEX keys_with_budget ON keys (id) WHERE budget_total IS NOT NULL OR budget_day IS NOT NULL OR budget_month IS NOT NULL;
  `,
  // What is stored of the requests and replies of a key.
  'ALTER TABLE keys ADD COLUMN capture text;',
  // The files of the calls of each hour, so that each is written once.
  `
  CREATE TABLE hourly_files (
    hour bigint PRIMARY KEY,
    owner text COLLATE "C" NOT NULL,
    lease_until bigint NOT NULL,
    tries bigint NOT NULL,
    done bigint NOT NULL,
    calls bigint NOT NULL,
    bytes bigint NOT NULL,
    at bigint NOT NULL,
    error text COLLATE "C"
  );
  `,
  // What is due of each channel, so that one channel does not hold up the others.
  "CREATE INDEX alert_deliveries_due_of_channel ON alert_deliveries (channel, due_at) WHERE state = 'pending';",
  // Sums for the overview: by model and five minutes with counts of times by range, and by key and day. Earlier calls are added as far as
  // the hourly sums have them.
  `
  CREATE TABLE overview_sums (
    slot bigint NOT NULL,
    writer text COLLATE "C" NOT NULL,
    model text COLLATE "C" NOT NULL,
    calls bigint NOT NULL DEFAULT 0,
    failed bigint NOT NULL DEFAULT 0,
    cost bigint NOT NULL DEFAULT 0,
    saved bigint NOT NULL DEFAULT 0,
    input_tokens bigint NOT NULL DEFAULT 0,
    output_tokens bigint NOT NULL DEFAULT 0,
    cached_tokens bigint NOT NULL DEFAULT 0,
    cache_write_tokens bigint NOT NULL DEFAULT 0,
    reasoning_tokens bigint NOT NULL DEFAULT 0,
    first_0 bigint NOT NULL DEFAULT 0, first_1 bigint NOT NULL DEFAULT 0, first_2 bigint NOT NULL DEFAULT 0, first_3 bigint NOT NULL DEFAULT 0, first_4 bigint NOT NULL DEFAULT 0, first_5 bigint NOT NULL DEFAULT 0, first_6 bigint NOT NULL DEFAULT 0, first_7 bigint NOT NULL DEFAULT 0, first_8 bigint NOT NULL DEFAULT 0, first_9 bigint NOT NULL DEFAULT 0, first_10 bigint NOT NULL DEFAULT 0, first_11 bigint NOT NULL DEFAULT 0, first_12 bigint NOT NULL DEFAULT 0, first_13 bigint NOT NULL DEFAULT 0, first_14 bigint NOT NULL DEFAULT 0, first_15 bigint NOT NULL DEFAULT 0, first_16 bigint NOT NULL DEFAULT 0, first_17 bigint NOT NULL DEFAULT 0, first_18 bigint NOT NULL DEFAULT 0,
    took_0 bigint NOT NULL DEFAULT 0, took_1 bigint NOT NULL DEFAULT 0, took_2 bigint NOT NULL DEFAULT 0, took_3 bigint NOT NULL DEFAULT 0, took_4 bigint NOT NULL DEFAULT 0, took_5 bigint NOT NULL DEFAULT 0, took_6 bigint NOT NULL DEFAULT 0, took_7 bigint NOT NULL DEFAULT 0, took_8 bigint NOT NULL DEFAULT 0, took_9 bigint NOT NULL DEFAULT 0, took_10 bigint NOT NULL DEFAULT 0, took_11 bigint NOT NULL DEFAULT 0, took_12 bigint NOT NULL DEFAULT 0, took_13 bigint NOT NULL DEFAULT 0, took_14 bigint NOT NULL DEFAULT 0, took_15 bigint NOT NULL DEFAULT 0, took_16 bigint NOT NULL DEFAULT 0, took_17 bigint NOT NULL DEFAULT 0, took_18 bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (slot, writer, model)
  );
  INSERT INTO overview_sums (slot, writer, model, calls, cost, saved, input_tokens, output_tokens)
    SELECT hour * 12, '', model, sum(calls), sum(cost), sum(saved), sum(input_tokens), sum(output_tokens)
    FROM call_sums WHERE true GROUP BY 1, 2, 3;
  CREATE TABLE key_days (
    day bigint NOT NULL,
    account text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    calls bigint NOT NULL,
    cost bigint NOT NULL,
    tokens bigint NOT NULL,
    PRIMARY KEY (day, account, key)
  );
  INSERT INTO key_days (day, account, key, calls, cost, tokens)
    SELECT hour / 24, account, key, sum(calls), sum(cost), sum(input_tokens + output_tokens)
    FROM call_sums WHERE true GROUP BY 1, 2, 3;
  `,
  // The host that a passkey was made for, whether it may be copied to other devices, and whether it was.
  `
  ALTER TABLE passkeys ADD COLUMN host text COLLATE "C" NOT NULL DEFAULT '';
  ALTER TABLE passkeys ADD COLUMN is_syncable bigint NOT NULL DEFAULT 0;
  ALTER TABLE passkeys ADD COLUMN is_synced bigint NOT NULL DEFAULT 0;
  `,
  // Who has registered, so that each mailbox gets one credit, and what was given away on each day.
  `
  CREATE TABLE registrations (
    mailbox text COLLATE "C" PRIMARY KEY,
    person text COLLATE "C" NOT NULL,
    account text COLLATE "C" NOT NULL,
    at bigint NOT NULL
  );
  CREATE TABLE registration_days (
    day bigint PRIMARY KEY,
    people bigint NOT NULL,
    credit bigint NOT NULL
  );
  `,
  // Sums of whole days for reports. They are filled after the start, day by day, from the hourly sums.
  `
  CREATE TABLE usage_days (
    day bigint NOT NULL,
    account text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    model text COLLATE "C" NOT NULL,
    provider text COLLATE "C" NOT NULL,
    tag text COLLATE "C" NOT NULL,
    calls bigint NOT NULL,
    cost bigint NOT NULL,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    saved bigint NOT NULL,
    provider_cost bigint NOT NULL,
    costed_calls bigint NOT NULL,
    costed_charge bigint NOT NULL,
    PRIMARY KEY (day, account, key, model, provider, tag)
  );
  CREATE INDEX usage_days_of_account ON usage_days (account, day);
  CREATE TABLE usage_days_done (
    day bigint PRIMARY KEY,
    done bigint NOT NULL,
    round bigint NOT NULL
  );
  `,
];
