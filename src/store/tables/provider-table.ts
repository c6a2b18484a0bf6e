/** Providers. Their credentials are encrypted if there is a key. */
import { SECRET_SETTING } from '../../canonical/redaction.ts';
import type { ProviderRow } from '../catalog-rows.ts';
import type { CredentialCipher } from '../credential-cipher.ts';
import { type Database, putInto, type Statement, type Steps, sql } from '../database.ts';
import type { Store } from '../store.ts';
import { putNamed, removeRow } from './audit-table.ts';

interface ProviderColumns {
  name: string;
  type: string;
  base_url: string | null;
  credentials: string;
  settings: string;
  limits: string;
}

/** Members of a provider that are kept together as JSON. */
type ProviderLimitColumns = Pick<ProviderRow, 'concurrency' | 'tokensPerMinute' | 'queueMs'>;

type ProviderTable = Pick<Store, 'saveProvider' | 'providers' | 'removeProvider' | 'reencryptProviders'>;

/** Without `cipher` credentials are stored unencrypted. */
export function providerTable(db: Database, cipher: CredentialCipher | undefined): ProviderTable {
  const all = () => db.all<ProviderColumns>(sql`SELECT * FROM providers ORDER BY name`);
  const read = (row: ProviderColumns) => toProvider(row, cipher);
  /** For the audit log, which contains no credentials: a row that no key decrypts can still be replaced or removed. */
  const readAnyhow = (row: ProviderColumns): ProviderRow => {
    try {
      return read(row);
    } catch {
      return { ...toProvider(row, undefined), credentials: [], settings: {} };
    }
  };

  return {
    saveProvider(provider, audit) {
      const put = putInto('providers', 'name', toColumns(provider, cipher));
      const save = putNamed('providers', provider, put, readAnyhow, audit);
      return db.steps(function* (): Steps<void> {
        // With two keys in one database, neither decrypts everything: so the key of the other rows must be known before a row is written.
        const others = (yield sql`SELECT * FROM providers WHERE name <> ${provider.name}`) as ProviderColumns[];
        for (const other of others) read(other);
        yield* save();
      });
    },
    providers: async () => (await all()).map(read),
    removeProvider: (name, audit) => db.steps(removeRow('providers', 'name', name, readAnyhow, audit)),
    async reencryptProviders(which = 'all') {
      if (!cipher) return 0;
      const rows = await all();
      // All rows are decrypted before a key is created: a new key must not be created if another one is missing.
      const providers = rows.map(read);
      cipher.ensure();
      const isDone = which === 'plain' ? cipher.isEncrypted : cipher.isCurrent;
      let reencrypted = 0;
      for (const [place, row] of rows.entries()) {
        const provider = providers[place];
        if (!provider || textsOf(row).every(isDone)) continue;
        // A concurrent change of the row has encrypted it too.
        const changed = await db.all<{ name: string }>(replace(row, toColumns(provider, cipher)));
        reencrypted += changed.length;
      }
      return reencrypted;
    },
  };
}

function replace(old: ProviderColumns, { credentials, settings }: ReturnType<typeof toColumns>): Statement {
  return sql`UPDATE providers SET credentials = ${credentials}, settings = ${settings}
    WHERE name = ${old.name} AND credentials = ${old.credentials} AND settings = ${old.settings} RETURNING name`;
}

/** The encrypted parts of a row. */
function textsOf({ credentials, settings }: ProviderColumns): string[] {
  const secret = Object.entries(JSON.parse(settings) as ProviderRow['settings']).filter(([name]) => isSecret(name));
  return [...(JSON.parse(credentials) as string[]), ...secret.map(([, value]) => value)];
}

const isSecret = (name: string) => SECRET_SETTING.test(name);
const credentialPlace = (provider: string) => `provider ${provider}`;
const settingPlace = (provider: string, setting: string) => `provider ${provider}, setting ${setting}`;

function toColumns(provider: ProviderRow, cipher: CredentialCipher | undefined) {
  const { name, type, baseUrl, credentials, settings, concurrency, tokensPerMinute, queueMs } = provider;
  const encrypt = (text: string, place: string) => (cipher ? cipher.encrypt(text, place) : text);
  return {
    name,
    type,
    base_url: baseUrl,
    credentials: JSON.stringify(credentials.map((one) => encrypt(one, credentialPlace(name)))),
    settings: JSON.stringify(eachSecret(settings, (text, setting) => encrypt(text, settingPlace(name, setting)))),
    limits: JSON.stringify({ concurrency, tokensPerMinute, queueMs }),
  };
}

function toProvider(row: ProviderColumns, cipher: CredentialCipher | undefined): ProviderRow {
  const { name, type } = row;
  const decrypt = (text: string, place: string) => (cipher ? cipher.decrypt(text, place) : text);
  const credentials = JSON.parse(row.credentials) as string[];
  const settings = JSON.parse(row.settings) as ProviderRow['settings'];
  return {
    name,
    type,
    ...(row.base_url !== null && { baseUrl: row.base_url }),
    credentials: credentials.map((one) => decrypt(one, credentialPlace(name))),
    settings: eachSecret(settings, (text, setting) => decrypt(text, settingPlace(name, setting))),
    ...(JSON.parse(row.limits) as ProviderLimitColumns),
  };
}

function eachSecret(
  settings: ProviderRow['settings'],
  change: (text: string, setting: string) => string,
): ProviderRow['settings'] {
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [name, isSecret(name) ? change(value, name) : value]),
  );
}
