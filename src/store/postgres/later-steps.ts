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
];
