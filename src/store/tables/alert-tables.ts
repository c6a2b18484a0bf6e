/** Alerts, their channels and rules, and the outbox. Secrets of channels are encrypted if there is a key. */
import { GatewayError } from '../../canonical/errors.ts';
import type {
  AlertChannelRow,
  AlertRow,
  AlertRuleRow,
  AlertStore,
  ClaimedDelivery,
  DeliveryRow,
  DeliveryState,
  RaisedAlert,
} from '../alerts.ts';
import type { CredentialCipher } from '../credential-cipher.ts';
import { type Database, insertInto, putInto, raw, type Steps, sql, where, within } from '../database.ts';
import { alertFigures } from './alert-figures.ts';
import { recorded, removeRow } from './audit-table.ts';

interface ChannelColumns {
  id: string;
  name: string;
  type: AlertChannelRow['type'];
  settings: string;
  secrets: string;
  rules: string | null;
  enabled: bigint;
  created_at: bigint;
}

interface AlertColumns {
  id: string;
  at: bigint;
  rule: string;
  severity: AlertRow['severity'];
  subject: string;
  title: string;
  text: string;
  data: string;
}

interface DeliveryColumns {
  id: string;
  alert: string;
  channel: string;
  state: DeliveryState;
  tries: bigint;
  due_at: bigint;
  error: string | null;
}

const ALERT = raw('id, at, rule, severity, subject, title, text, data');

/** Without `cipher` secrets are stored unencrypted. */
export function alertTables(db: Database, cipher: CredentialCipher | undefined): AlertStore {
  const allChannels = () => db.all<ChannelColumns>(sql`SELECT * FROM alert_channels ORDER BY created_at, id`);
  const read = (row: ChannelColumns) => toChannel(row, cipher);
  /** For the audit log, which has no secrets: a row that no key decrypts can still be removed. */
  const shown = (row: ChannelColumns): AlertChannelRow => ({ ...plain(row), secrets: { url: '' } });

  return {
    ...alertFigures(db),
    channels: async () => (await allChannels()).map(read),
    saveChannel(channel, audit) {
      const put = putInto('alert_channels', 'id', toColumns(channel, cipher));
      return db.steps(function* (): Steps<void> {
        const [old] = (yield sql`SELECT * FROM alert_channels WHERE id = ${channel.id}`) as ChannelColumns[];
        const taken = yield sql`SELECT id FROM alert_channels WHERE name = ${channel.name} AND id <> ${channel.id}`;
        if (taken.length > 0)
          throw new GatewayError('conflict', `A channel "${channel.name}" already exists.`, { param: 'name' });
        yield put;
        yield* recorded(audit, old && shown(old), { ...channel, secrets: { url: '' } });
      });
    },
    removeChannel(id, audit) {
      return db.steps(function* (): Steps<boolean> {
        yield sql`DELETE FROM alert_deliveries WHERE channel = ${id} AND state = 'pending'`;
        return yield* removeRow('alert_channels', 'id', id, shown, audit)();
      });
    },
    async reencrypt() {
      if (!cipher) return 0;
      const stale = (await allChannels()).filter(({ secrets }) => !cipher.isCurrent(secrets));
      for (const row of stale) {
        const channel = read(row);
        if (channel.unreadable !== undefined) throw new Error(channel.unreadable);
        const { secrets } = toColumns(channel, cipher);
        await db.all(
          sql`UPDATE alert_channels SET secrets = ${secrets} WHERE id = ${row.id} AND secrets = ${row.secrets}`,
        );
      }
      return stale.length;
    },
    async rules() {
      const rows = await db.all<{ rule: string; settings: string }>(sql`SELECT rule, settings FROM alert_rules`);
      return rows.map(toRule);
    },
    saveRule({ rule, ...settings }, audit) {
      return db.steps(function* (): Steps<void> {
        const [old] = (yield sql`SELECT rule, settings FROM alert_rules WHERE rule = ${rule}`) as [
          { rule: string; settings: string }?,
        ];
        yield putInto('alert_rules', 'rule', { rule, settings: JSON.stringify(settings) });
        yield* recorded(audit, old && toRule(old), { rule, ...settings });
      });
    },

    raise: (alert) => db.steps(() => raised(alert)),
    async raised(keys) {
      const rows = await db.all<{ dedupe: string }>(sql`SELECT dedupe FROM alerts WHERE dedupe ${within(keys)}`);
      return new Set(rows.map(({ dedupe }) => dedupe));
    },
    rearm(key, next) {
      return db.steps(function* (): Steps<void> {
        const [freed] = (yield sql`UPDATE alerts SET dedupe = NULL WHERE dedupe = ${key} RETURNING id`) as [
          { id: string }?,
        ];
        const alert = freed && next(freed.id);
        if (alert) yield* raised(alert);
      });
    },
    async alerts({ limit, after, rule, state }) {
      const conditions = [
        rule === undefined ? undefined : sql`rule = ${rule}`,
        state === undefined ? undefined : sql`id IN (SELECT alert FROM alert_deliveries WHERE state = ${state})`,
        after === undefined ? undefined : sql`(at, id) < (SELECT at, id FROM alerts WHERE id = ${after})`,
      ];
      const rows = await db.all<AlertColumns>(
        sql`SELECT ${ALERT} FROM alerts ${where(conditions)} ORDER BY at DESC, id DESC LIMIT ${limit}`,
      );
      return rows.map(toAlert);
    },
    async deliveriesOf(alerts) {
      const rows = await db.all<DeliveryColumns>(
        sql`SELECT * FROM alert_deliveries WHERE alert ${within(alerts)} ORDER BY id`,
      );
      return rows.map(toDelivery);
    },
    async dueChannels(now) {
      const due = sql`SELECT 1 FROM alert_deliveries WHERE channel = alert_channels.id AND ${isDue(now)}`;
      const rows = await db.all<{ id: string }>(
        sql`SELECT id FROM alert_channels WHERE enabled = 1 AND EXISTS (${due})`,
      );
      return rows.map(({ id }) => id);
    },
    async claim(channel, worker, { now, until }, limit) {
      const free = sql`channel = ${channel} AND ${isDue(now)}`;
      const due = sql`SELECT id FROM alert_deliveries WHERE ${free} ORDER BY due_at LIMIT ${limit}`;
      // The condition is repeated: a process that waited for another's claim of the same row must see it as taken.
      const taken = await db.all<DeliveryColumns>(
        sql`UPDATE alert_deliveries SET lease = ${worker}, lease_until = ${until} WHERE id IN (${due}) AND ${free} RETURNING *`,
      );
      return claimed(taken);
    },
    async delivered(id, worker, { state, tries, at, error }) {
      await db.all(
        sql`UPDATE alert_deliveries SET state = ${state}, tries = ${tries}, due_at = ${at}, error = ${error ?? null},
            lease = NULL, lease_until = NULL WHERE id = ${id} AND lease = ${worker}`,
      );
    },
    async workers() {
      // Only what is pending is leased, and has an index: months of deliveries are not read every two seconds.
      const leases = await db.all<{ lease: string }>(
        sql`SELECT DISTINCT lease FROM alert_deliveries WHERE state = 'pending' AND lease IS NOT NULL`,
      );
      return leases.map(({ lease }) => lease);
    },
    async releaseOf(workers) {
      await db.all(
        sql`UPDATE alert_deliveries SET lease = NULL, lease_until = NULL WHERE state = 'pending' AND lease ${within(workers)}`,
      );
    },
    async pullIn(now, before) {
      await db.together([
        sql`UPDATE alert_deliveries SET due_at = ${now} WHERE state = 'pending' AND due_at > ${before}`,
        sql`UPDATE alert_deliveries SET lease = NULL, lease_until = NULL WHERE state = 'pending' AND lease_until > ${before}`,
      ]);
    },
    async forget(before) {
      await db.together([
        sql`DELETE FROM alert_deliveries WHERE alert IN (SELECT id FROM alerts WHERE at < ${before})`,
        sql`DELETE FROM alerts WHERE at < ${before}`,
      ]);
    },
  };

  async function claimed(deliveries: readonly DeliveryColumns[]): Promise<ClaimedDelivery[]> {
    if (deliveries.length === 0) return [];
    const alerts = await db.all<AlertColumns>(
      sql`SELECT ${ALERT} FROM alerts WHERE id ${within(deliveries.map(({ alert }) => alert))}`,
    );
    const channels = await allChannels();
    return deliveries.flatMap(({ id, tries, alert, channel }) => {
      const found = alerts.find((one) => one.id === alert);
      const to = channels.find((one) => one.id === channel);
      return found ? [{ id, tries: Number(tries), alert: toAlert(found), channel: to && read(to) }] : [];
    });
  }
}

const isDue = (now: number) =>
  sql`state = 'pending' AND due_at <= ${now} AND (lease_until IS NULL OR lease_until <= ${now})`;

/** The steps that raise an alert. `false`: there is one with its key, or there was one lately. */
function* raised({ key, unlessSince, freeBefore, data, ...alert }: RaisedAlert): Steps<boolean> {
  const { id, at, rule, subject } = alert;
  const wanted = sql`enabled = 1 AND (rules IS NULL OR rules LIKE ${`%"${rule}"%`})`;
  if (unlessSince !== undefined) {
    const late =
      yield sql`SELECT id FROM alerts WHERE rule = ${rule} AND subject = ${subject} AND at > ${unlessSince} AND at <= ${at}`;
    if (late.length > 0) return false;
  }
  if (freeBefore !== undefined) yield sql`UPDATE alerts SET dedupe = NULL WHERE dedupe = ${key} AND at < ${freeBefore}`;
  const columns = { ...alert, data: JSON.stringify(data), dedupe: key };
  const inserted = yield sql`${insertInto('alerts', columns)} ON CONFLICT (dedupe) DO NOTHING RETURNING id`;
  if (inserted.length === 0) return false;
  yield sql`INSERT INTO alert_deliveries (id, alert, channel, state, tries, due_at)
    SELECT ${id} || '.' || id, ${id}, id, 'pending', 0, ${at} FROM alert_channels WHERE ${wanted}`;
  return true;
}

const place = (id: string) => `alert channel ${id}`;

function toColumns(channel: AlertChannelRow, cipher: CredentialCipher | undefined) {
  const { id, name, type, settings, secrets, rules, enabled, createdAt } = channel;
  const text = JSON.stringify(secrets);
  return {
    id,
    name,
    type,
    settings: JSON.stringify(settings),
    secrets: cipher ? cipher.encrypt(text, place(id)) : text,
    rules: rules ? JSON.stringify(rules) : null,
    enabled: enabled ? 1 : 0,
    created_at: createdAt,
  };
}

/** A channel that no key decrypts must not stop the alerts of the others. */
function toChannel(row: ChannelColumns, cipher: CredentialCipher | undefined): AlertChannelRow {
  try {
    const text = cipher ? cipher.decrypt(row.secrets, place(row.id)) : row.secrets;
    return { ...plain(row), secrets: JSON.parse(text) };
  } catch {
    const unreadable = `The secrets of the channel "${row.name}" cannot be decrypted with the secret keys of this process. Restore the key, or give the channel its address again.`;
    return { ...plain(row), secrets: { url: '' }, unreadable };
  }
}

function plain(row: ChannelColumns): Omit<AlertChannelRow, 'secrets'> {
  const { id, name, type, settings, rules, enabled, created_at } = row;
  return {
    id,
    name,
    type,
    settings: JSON.parse(settings),
    ...(rules !== null && { rules: JSON.parse(rules) }),
    enabled: enabled !== 0n,
    createdAt: Number(created_at),
  };
}

const toRule = ({ rule, settings }: { rule: string; settings: string }): AlertRuleRow => ({
  rule,
  ...JSON.parse(settings),
});

const toAlert = ({ at, data, ...row }: AlertColumns): AlertRow => ({ ...row, at: Number(at), data: JSON.parse(data) });

function toDelivery({ alert, channel, state, tries, due_at, error }: DeliveryColumns): DeliveryRow {
  return { alert, channel, state, tries: Number(tries), at: Number(due_at), ...(error !== null && { error }) };
}
