/** Admin API: alerts, the channels they are sent to, and their rules. */
import { Type } from 'typebox';
import { auditRow } from '../../../access/audit.ts';
import { RULE_NAMES, RULES, type RuleName, settingsFrom } from '../../../alerts/rules.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import { newId } from '../../../canonical/id.ts';
import type { AlertChannelRow } from '../../../store/alerts.ts';
import type { Audit } from '../../../store/rows.ts';
import { listOf, PAGE, pageOf } from '../../fields/page.ts';
import { moneyOf } from '../../fields/usd.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { type AnsweredRoute, route } from '../../route.ts';
import {
  Alert,
  AlertRule,
  auditedChannel,
  Channel,
  ChannelChanged,
  channelWith,
  NewChannel,
  RuleChanged,
  STATES,
  writeAlert,
  writeChannel,
  writeRule,
} from './alert-fields.ts';
import { audited } from './audit-routes.ts';

const Tested = Type.Object({
  sent: Type.Boolean(),
  error: Type.Optional(Type.String({ description: 'why it was not sent' })),
});

export const ALERT_ROUTES: readonly AnsweredRoute[] = [
  route('GET', '/admin/v1/alerts', {
    gate: 'admin',
    permission: 'alerts:read',
    summary: 'Lists alerts of the last 90 days with their deliveries, latest first.',
    query: Type.Object({
      ...PAGE,
      rule: Type.Optional(Type.Union(RULE_NAMES.map((name) => Type.Literal(name)))),
      state: Type.Optional(
        Type.Union(
          STATES.map((state) => Type.Literal(state)),
          { description: 'of at least one delivery: pending, sent, or dead (given up)' },
        ),
      ),
    }),
    reply: listOf(Alert),
    answer: async ({ store: { alerts } }, { query }) => {
      const { rule, state } = query;
      const filter = { ...(rule !== undefined && { rule }), ...(state !== undefined && { state }) };
      return pageOf(
        query,
        async (page) => {
          const rows = await alerts.alerts({ ...filter, ...page });
          const deliveries = await alerts.deliveriesOf(rows.map(({ id }) => id));
          return rows.map((row) => ({ row, deliveries }));
        },
        ({ row }) => row.id,
        ({ row, deliveries }) => writeAlert(row, deliveries),
      );
    },
  }),
  route('GET', '/admin/v1/alerts/channels', {
    gate: 'admin',
    permission: 'alerts:read',
    summary: 'Lists the channels that alerts are sent to.',
    reply: Type.Object({ data: Type.Array(Channel) }),
    answer: async ({ store }) => ({ data: (await store.alerts.channels()).map(writeChannel) }),
  }),
  route('POST', '/admin/v1/alerts/channels', {
    gate: 'admin',
    permission: 'alerts:write',
    summary:
      'Adds a channel. `webhook` needs `url` and is signed by Standard Webhooks, `slack` needs the `url` of an incoming webhook, `email` needs `server`, `from` and `to`.',
    body: NewChannel,
    reply: Channel,
    answer: async (deps, { body: { type, ...given }, caller }) => {
      const fresh = { id: newId('channel_'), name: '', type, settings: {}, secrets: { url: '' }, enabled: true };
      const channel = channelWith({ ...fresh, createdAt: deps.now() }, given, deps.alerts.check);
      await deps.store.alerts.saveChannel(channel, auditOf(deps, caller.key, 'alert-channel.created', channel.id));
      await deps.alerts.refresh();
      return withSecret(channel);
    },
  }),
  route('GET', '/admin/v1/alerts/channels/:id', {
    gate: 'admin',
    permission: 'alerts:read',
    summary: 'Shows one channel.',
    reply: Channel,
    answer: async (deps, { path }) => writeChannel(await channelNamed(deps, path.id)),
  }),
  route('PATCH', '/admin/v1/alerts/channels/:id', {
    gate: 'admin',
    permission: 'alerts:write',
    summary: 'Changes a channel. Absent members stay as they are; `rules: null` sends alerts of all rules.',
    body: ChannelChanged,
    reply: Channel,
    answer: async (deps, { path, body, caller }) => {
      const old = await channelNamed(deps, path.id);
      const channel = channelWith(old, body, deps.alerts.check);
      await deps.store.alerts.saveChannel(channel, auditOf(deps, caller.key, 'alert-channel.changed', channel.id));
      await deps.alerts.refresh();
      // Where the old secret could not be decrypted there is a new one.
      const isNew = body.secret !== undefined || old.unreadable !== undefined;
      return isNew ? withSecret(channel) : writeChannel(channel);
    },
  }),
  route('DELETE', '/admin/v1/alerts/channels/:id', {
    gate: 'admin',
    permission: 'alerts:write',
    summary: 'Removes a channel. What was not sent to it yet is dropped.',
    reply: Type.Object({ id: Type.String(), removed: Type.Boolean() }),
    answer: async (deps, { path, caller }) => {
      const { id } = await channelNamed(deps, path.id);
      await deps.store.alerts.removeChannel(id, auditOf(deps, caller.key, 'alert-channel.removed', id));
      await deps.alerts.refresh();
      return { id, removed: true };
    },
  }),
  route('POST', '/admin/v1/alerts/channels/:id/test', {
    gate: 'admin',
    permission: 'alerts:write',
    summary: 'Sends a test to a channel now, once, and says whether it was taken.',
    reply: Tested,
    answer: async (deps, { path }) => {
      const error = await deps.alerts.test(await channelNamed(deps, path.id));
      return { sent: error === undefined, ...(error !== undefined && { error }) };
    },
  }),
  route('GET', '/admin/v1/alerts/rules', {
    gate: 'admin',
    permission: 'alerts:read',
    summary: 'Lists the rules with their settings.',
    reply: Type.Object({ data: Type.Array(AlertRule) }),
    answer: async ({ store }) => {
      const all = settingsFrom(await store.alerts.rules());
      return { data: RULE_NAMES.map((name) => writeRule(name, all)) };
    },
  }),
  route('PATCH', '/admin/v1/alerts/rules/:rule', {
    gate: 'admin',
    permission: 'alerts:write',
    summary: 'Switches a rule on or off, or changes its thresholds.',
    body: RuleChanged,
    reply: AlertRule,
    answer: async (deps, { path, body, caller }) => {
      const rule = ruleNamed(path.rule ?? '');
      for (const member of ['thresholds', 'below'] as const)
        if (body[member] !== undefined && !(member in RULES[rule]))
          throw new GatewayError('invalid_request', `The rule "${rule}" has no "${member}".`, { param: member });
      const { below, ...plain } = body;
      const stored = (await deps.store.alerts.rules()).find((one) => one.rule === rule);
      const amount = below === undefined ? {} : { below: String(moneyOf(below, 'below')) };
      const changed = { ...stored, ...plain, ...amount, rule };
      const audit = audited(deps, caller, 'alert-rule.changed', rule);
      await deps.store.alerts.saveRule(changed, audit);
      await deps.alerts.refresh();
      return writeRule(rule, settingsFrom([changed]));
    },
  }),
];

async function channelNamed({ store }: HttpDeps, id = ''): Promise<AlertChannelRow> {
  const found = (await store.alerts.channels()).find((one) => one.id === id);
  if (found) return found;
  throw new GatewayError('not_found', `There is no channel "${id}".`, { param: 'id' });
}

function ruleNamed(name: string): RuleName {
  const found = RULE_NAMES.find((one) => one === name);
  if (found) return found;
  const sentence = `There is no rule "${name}". Rules are ${RULE_NAMES.join(', ')}.`;
  throw new GatewayError('not_found', sentence, { param: 'rule' });
}

/** A new secret is shown once. */
function withSecret(channel: AlertChannelRow): object {
  const { secret } = channel.secrets;
  return { ...writeChannel(channel), ...(secret !== undefined && { secret }) };
}

function auditOf({ now }: HttpDeps, actor: string, action: string, subject: string): Audit<AlertChannelRow> {
  return (before, after) =>
    auditRow(
      { actor, action, subject, before: before && auditedChannel(before), after: after && auditedChannel(after) },
      now(),
    );
}
