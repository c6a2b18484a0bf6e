/** Members of alerts, their channels and rules in the admin API. */
import { type Static, Type } from 'typebox';
import { type AllRules, RULE_NAMES, RULES, type RuleName } from '../../../alerts/rules.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import { writeMoney } from '../../../canonical/money.ts';
import type { AlertChannelRow, AlertRow, ChannelSecrets, ChannelSettings, DeliveryRow } from '../../../store/alerts.ts';
import { newWebhookSecret } from '../../../transport/webhook-signature.ts';
import { named } from '../../fields/named.ts';
import { Time, writeTime } from '../../fields/time.ts';
import { Usd, UsdInput } from '../../fields/usd.ts';

const TYPES = ['webhook', 'slack', 'email'] as const;
export const STATES = ['pending', 'sent', 'dead'] as const;
const Address = Type.String({ minLength: 3, maxLength: 320, pattern: '^[^\\s<>]+@[^\\s<>]+$' });
const MOST_ADDRESSES = 50;
const MOST_THRESHOLDS = 10;

const Rules = Type.Array(Type.Union(RULE_NAMES.map((name) => Type.Literal(name))), {
  description: `the rules whose alerts it gets, of ${RULE_NAMES.join(', ')}; null or absent: all`,
});

const CHANNEL = {
  name: Type.String({ minLength: 1, maxLength: 200, description: 'a name of 1 to 200 characters' }),
  url: Type.String({ maxLength: 2000, description: 'an http or https URL, of a webhook or of Slack' }),
  secret: Type.String({
    pattern: '^whsec_[A-Za-z0-9+/]{32,128}={0,2}$',
    description:
      '`whsec_` and base64: the key of the signatures of a webhook; absent: a new one, in this response only',
  }),
  server: Type.String({
    maxLength: 2000,
    description: 'an SMTP server of e-mail, such as smtps://user:password@smtp.example.com:465',
  }),
  from: Type.String({ ...Address, description: 'the e-mail address of the sender' }),
  to: Type.Array(Address, {
    minItems: 1,
    maxItems: MOST_ADDRESSES,
    description: 'a list of e-mail addresses to send to',
  }),
  rules: Type.Union([Rules, Type.Null()]),
  enabled: Type.Boolean(),
};

const { name, url, secret, server, from, to, rules, enabled } = CHANNEL;

export const ChannelChanged = Type.Object(
  {
    name: Type.Optional(name),
    url: Type.Optional(url),
    secret: Type.Optional(secret),
    server: Type.Optional(server),
    from: Type.Optional(from),
    to: Type.Optional(to),
    rules: Type.Optional(rules),
    enabled: Type.Optional(enabled),
  },
  { additionalProperties: false },
);
type ChannelChanged = Static<typeof ChannelChanged>;

export const NewChannel = Type.Object(
  { ...ChannelChanged.properties, name, type: Type.Union(TYPES.map((type) => Type.Literal(type))) },
  { additionalProperties: false },
);

export const Channel = named('AlertChannel', {
  id: Type.String(),
  name: Type.String(),
  type: Type.String({ description: `one of ${TYPES.join(', ')}` }),
  url: Type.Optional(Type.String({ description: 'of a webhook; of Slack without its path, which is a secret' })),
  server: Type.Optional(Type.String({ description: 'of e-mail, without user and password' })),
  from: Type.Optional(Type.String()),
  to: Type.Optional(Type.Array(Type.String())),
  rules: Type.Union([Type.Array(Type.String()), Type.Null()], { description: 'null: all' }),
  enabled: Type.Boolean(),
  createdAt: Time,
  error: Type.Optional(Type.String({ description: 'why nothing can be sent to it: its secrets cannot be decrypted' })),
  secret: Type.Optional(Type.String({ description: 'of a webhook, where it was created or changed' })),
});

export const AlertRule = named('AlertRule', {
  rule: Type.String(),
  summary: Type.String(),
  severity: Type.String({ description: 'info, warning or error' }),
  enabled: Type.Boolean(),
  thresholds: Type.Optional(Type.Array(Type.Integer(), { description: 'percent of a budget' })),
  below: Type.Optional(Usd),
});

export const RuleChanged = Type.Object(
  {
    enabled: Type.Optional(Type.Boolean()),
    thresholds: Type.Optional(
      Type.Array(Type.Integer({ minimum: 1, maximum: 100 }), {
        minItems: 1,
        maxItems: MOST_THRESHOLDS,
        description: 'of the rule budget: percent, from 1 to 100',
      }),
    ),
    below: Type.Optional({ ...UsdInput, description: 'of the rule low_balance: an amount in USD, such as "5.00"' }),
  },
  { additionalProperties: false },
);

export const Alert = named('Alert', {
  id: Type.String(),
  at: Time,
  rule: Type.String(),
  severity: Type.String({ description: 'info, warning or error' }),
  subject: Type.String({ description: 'the id or name of what it is about' }),
  title: Type.String(),
  text: Type.String(),
  details: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()])),
  deliveries: Type.Array(
    Type.Object({
      channel: Type.String({ description: 'the id of the channel' }),
      state: Type.String({ description: `${STATES.join(', ')}: given up after all tries` }),
      tries: Type.Integer(),
      at: Type.Optional(Type.String({ ...Time, description: 'when it was sent or given up; pending: the next try' })),
      error: Type.Optional(Type.String({ description: 'of the last try that failed' })),
    }),
  ),
});

const invalid = (param: string, sentence: string) => new GatewayError('invalid_request', sentence, { param });

/** The channel with these changes. `check` throws if a webhook must not be sent to the URL. */
export function channelWith(
  old: AlertChannelRow,
  changed: ChannelChanged,
  check: (url: string) => void,
): AlertChannelRow {
  const { name = old.name, enabled = old.enabled } = changed;
  const { rules: _, unreadable: __, ...rest } = old;
  const rules = changed.rules === undefined ? old.rules : (changed.rules ?? undefined);
  const { settings, secrets } = old.type === 'email' ? mailOf(old, changed) : hookOf(old, changed, check);
  return { ...rest, name, enabled, settings, secrets, ...(rules && { rules }) };
}

interface ChannelDestination {
  settings: ChannelSettings;
  secrets: ChannelSecrets;
}

function hookOf(
  { type, secrets }: AlertChannelRow,
  changed: ChannelChanged,
  check: (url: string) => void,
): ChannelDestination {
  for (const member of ['server', 'from', 'to'] as const)
    if (changed[member] !== undefined) throw invalid(member, `"${member}" belongs to channels of the type email.`);
  const url = changed.url ?? secrets.url;
  if (url === '') throw invalid('url', `"url" is missing: a channel of the type ${type} needs one.`);
  check(url);
  if (type === 'webhook') {
    const secret = changed.secret ?? secrets.secret ?? newWebhookSecret();
    return { settings: {}, secrets: { url, secret } };
  }
  if (changed.secret !== undefined) throw invalid('secret', '"secret" belongs to channels of the type webhook.');
  return { settings: {}, secrets: { url } };
}

function mailOf({ settings, secrets }: AlertChannelRow, changed: ChannelChanged): ChannelDestination {
  for (const member of ['url', 'secret'] as const)
    if (changed[member] !== undefined)
      throw invalid(member, `"${member}" does not belong to channels of the type email.`);
  const server = changed.server ?? secrets.url;
  const parsed = URL.parse(server);
  if (!parsed || !/^smtps?:$/.test(parsed.protocol) || parsed.hostname === '')
    throw invalid('server', '"server" must be the URL of an SMTP server, such as smtp://user:password@host:587.');
  const { from = settings.from, to = settings.to } = changed;
  if (from === undefined) throw invalid('from', '"from" is missing: a channel of the type email needs one.');
  if (to === undefined) throw invalid('to', '"to" is missing: a channel of the type email needs one.');
  return { settings: { from, to }, secrets: { url: server } };
}

/** Without secrets. */
export function writeChannel({
  id,
  name,
  type,
  settings,
  secrets,
  rules,
  enabled,
  createdAt,
  unreadable,
}: AlertChannelRow): object {
  const { protocol, host, origin } = new URL(secrets.url);
  const place = {
    webhook: { url: secrets.url },
    slack: { url: `${origin}/…` },
    email: { server: `${protocol}//${host}` },
  };
  return {
    id,
    name,
    type,
    ...place[type],
    ...settings,
    rules: rules ?? null,
    enabled,
    createdAt: writeTime(createdAt),
    ...(unreadable !== undefined && { error: unreadable }),
  };
}

/** For the audit log: of a webhook, too, the URL may contain a token. */
export function auditedChannel({ secrets: _, ...channel }: AlertChannelRow): object {
  return channel;
}

export function writeRule(rule: RuleName, all: AllRules): object {
  const { summary, severity, ...own } = RULES[rule];
  const { enabled, thresholds, below } = all[rule];
  return {
    rule,
    summary,
    severity,
    enabled,
    ...('thresholds' in own && { thresholds }),
    ...('below' in own && { below: writeMoney(below) }),
  };
}

export function writeAlert({ at, data, ...alert }: AlertRow, deliveries: readonly DeliveryRow[]): object {
  const own = deliveries.filter((one) => one.alert === alert.id);
  return {
    ...alert,
    at: writeTime(at),
    details: data,
    deliveries: own.map(({ alert: _, at: when, ...delivery }) => ({ ...delivery, at: writeTime(when) })),
  };
}
