/** OpenAPI operations for models, money, keys and records: those of callers, and the admin API. */
import { ModelForm, ProviderForm } from '../../catalog/catalogue-schema.ts';
import { PARQUET } from '../routes/admin/call-export.ts';
import { PriceDiff } from '../routes/admin/price-routes.ts';
import {
  AnyModel,
  AnyModelList,
  catalogFile,
  Description,
  GoogleModelList,
  Metrics,
  modelInPath,
  OneGoogleModel,
  providerInPath,
  Verifying,
} from './account-replies.ts';
import type { Operation, Operations, Tag } from './operation.ts';

const ACCOUNT = { id: 'acct_1Zk3v9' };
const CHANNEL = { id: 'channel_1Zk3v9' };
const PERSON = { id: 'person_1Zk3v9' };
const KEY = { id: 'key_1Zk3v9' };
/** Of requests that move money. */
const headers = ['idempotency-key'] as const;
/** Usage and calls in the other formats that `Accept` can ask for. */
const TABLES = {
  'text/csv': 'model,calls,cost\r\nsandbox-chat,3,0.0000381\r\n',
  'application/x-ndjson': '{"model":"sandbox-chat","calls":3,"cost":"0.0000381"}\n',
};
const CALL_TABLES = {
  'text/csv': 'id,model,outcome,cost\r\nreq_1Zk3v9,sandbox-chat,ok,0.0000127\r\n',
  'application/x-ndjson': '{"id":"req_1Zk3v9","model":"sandbox-chat","outcome":"ok","cost":"0.0000127"}\n',
};

/** The operations of one tag: for each route its operation id and other details. */
function tagged(tag: Tag, rows: { readonly [route: string]: readonly [string, Partial<Operation>?] }): Operations {
  return Object.fromEntries(Object.entries(rows).map(([route, [id, more]]) => [route, { id, tag, ...more }]));
}

const PROVIDER = {
  type: 'openai-compatible',
  baseUrl: 'http://127.0.0.1:8000/v1',
  credentials: ['example-credential'],
};
const MODEL = {
  kind: 'chat',
  price: { input: 1, output: 2 },
  maxOutputTokens: 4096,
  targets: [{ provider: 'local', model: 'llama' }],
};

/** The first lines of a scrape. */
const METRICS = `# HELP modelport_calls_total Admitted calls by outcome.
# TYPE modelport_calls_total counter
modelport_calls_total{model="sandbox-chat",provider="sandbox",outcome="ok"} 1
`;
const DOCUMENT = {
  openapi: '3.1.0',
  info: { title: 'Modelport', version: '1.0.0' },
  servers: [{ url: '/' }],
  tags: [{ name: 'Chat' }],
  paths: {},
  components: {},
};
const PRICE_FILE = {
  models: [
    {
      type: 'openai-compatible',
      model: 'llama',
      kind: 'chat',
      price: { input: '1', output: '2' },
      source: 'https://example.com/prices',
      asOf: '2027-01-31',
    },
  ],
  tools: [],
};
const PAYLOAD = {
  call: 'req_1Zk3v9',
  at: '2027-01-31T12:00:00.000Z',
  account: 'acct_1Zk3v9',
  key: 'key_1Zk3v9',
  model: 'sandbox-chat',
  format: 'openai-chat',
  capture: 'redacted',
  request: {
    bytes: 75,
    sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    content: { model: 'sandbox-chat', messages: [{ role: 'user', content: '[text 6]' }] },
  },
  reply: {
    status: 200,
    contentType: 'application/json',
    end: 'complete',
    bytes: 412,
    sha256: '4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945',
    content: { choices: [{ index: 0, message: { role: 'assistant', content: '[text 58]' }, finish_reason: 'stop' }] },
  },
};
/** The fingerprint of a comparison without differences, as with the sandbox. */
const NO_DIFFERENCE = '4f53cda18c2baa0c';
/** The entry of a dispute decided for the provider. */
const SETTLED = {
  seq: 12,
  kind: 'adjustment',
  amount: '-0.0125',
  balanceAfter: '9.9875',
  callId: 'req_1Zk3v9',
  at: '2027-01-31T12:00:00.000Z',
  hash: '4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945',
};

export const ACCOUNT_OPERATIONS: Operations = {
  ...tagged('Models', {
    'GET /v1/models': ['listModels', { reply: AnyModelList }],
    'GET /v1/models/{id}': ['getModel', { reply: AnyModel, path: { id: 'sandbox-chat' } }],
    'GET /v1beta/models': ['listGoogleModels', { reply: GoogleModelList }],
    'GET /v1beta/models/{id}': ['getGoogleModel', { reply: OneGoogleModel, path: { id: 'sandbox-chat' } }],
  }),
  ...tagged('Billing', {
    'GET /v1/balance': ['getBalance'],
    'GET /v1/calls/{id}': ['getOwnCall', { path: { id: 'req_1Zk3v9' } }],
    'GET /v1/usage': ['getUsage', { query: { group_by: 'model' }, alsoAs: TABLES }],
    'POST /v1/redeem': ['redeemCode', { request: { code: 'credit-4J7K9Q2MXW3Tabcdefghijkl' } }],
    'GET /v1/dashboard/billing/subscription': ['getSubscription'],
    'GET /v1/dashboard/billing/usage': ['getDashboardUsage'],
    'GET /dashboard/billing/subscription': ['getBareSubscription'],
    'GET /dashboard/billing/usage': ['getBareDashboardUsage'],
  }),
  ...tagged('Status', {
    'GET /': ['getName'],
    'GET /health': ['getHealth'],
    'GET /ready': ['getReadiness'],
    'GET /metrics': ['getMetrics', { reply: Metrics, replyType: 'text/plain', example: METRICS }],
    'GET /openapi.json': ['getDescription', { reply: Description, example: DOCUMENT }],
  }),
  ...tagged('Accounts', {
    'POST /admin/v1/accounts': ['createAccount', { request: { name: 'acme', budget: { month: '100.00' } } }],
    'GET /admin/v1/accounts': ['listAccounts'],
    'GET /admin/v1/accounts/{id}': ['getAccount', { path: ACCOUNT }],
    'PATCH /admin/v1/accounts/{id}': ['changeAccount', { path: ACCOUNT, request: { requestsPerMinute: 600 } }],
    'POST /admin/v1/accounts/{id}/disable': ['disableAccount', { path: ACCOUNT }],
    'POST /admin/v1/accounts/{id}/enable': ['enableAccount', { path: ACCOUNT }],
    'GET /admin/v1/accounts/{id}/webhook-secret': ['getWebhookSecret', { path: ACCOUNT }],
    'GET /admin/v1/accounts/{id}/entries': ['listEntries', { path: ACCOUNT }],
    'POST /admin/v1/accounts/{id}/top-ups': ['topUp', { path: ACCOUNT, headers, request: { amount: '25.00' } }],
    'POST /admin/v1/accounts/{id}/refunds': [
      'refund',
      { path: ACCOUNT, headers, request: { amount: '0.50', note: 'Sorry.' } },
    ],
    'POST /admin/v1/accounts/{id}/adjustments': [
      'adjust',
      { path: ACCOUNT, headers, request: { amount: '-0.25', note: 'A mistake corrected.' } },
    ],
    'POST /admin/v1/accounts/{id}/redemptions': [
      'redeemForAccount',
      { path: ACCOUNT, request: { code: 'credit-4J7K9Q2MXW3Tabcdefghijkl' } },
    ],
    'POST /admin/v1/codes': ['createCode', { headers, request: { amount: '10.00', note: 'Spring campaign' } }],
    'GET /admin/v1/codes': ['listCodes'],
  }),
  ...tagged('Keys', {
    'POST /admin/v1/keys': ['createKey', { request: { account: 'acme', name: 'laptop', models: ['sandbox-chat'] } }],
    'GET /admin/v1/keys': ['listKeys'],
    'GET /admin/v1/keys/{id}': ['getKey', { path: KEY }],
    'PATCH /admin/v1/keys/{id}': ['changeKey', { path: KEY, request: { tokensPerMinute: 100_000 } }],
    'POST /admin/v1/keys/{id}/disable': ['disableKey', { path: KEY }],
    'POST /admin/v1/keys/{id}/enable': ['enableKey', { path: KEY }],
    'POST /admin/v1/keys/{id}/rotate': ['rotateKey', { path: KEY, request: { graceSeconds: 3600 } }],
    'DELETE /admin/v1/keys/{id}': ['deleteKey', { path: KEY }],
  }),
  ...tagged('Alerts', {
    'GET /admin/v1/alerts': ['listAlerts', { query: { limit: 1 } }],
    'GET /admin/v1/alerts/channels': ['listAlertChannels'],
    'POST /admin/v1/alerts/channels': [
      'createAlertChannel',
      { request: { type: 'webhook', name: 'pager', url: 'https://pager.invalid/alerts' } },
    ],
    'GET /admin/v1/alerts/channels/{id}': ['getAlertChannel', { path: CHANNEL }],
    'PATCH /admin/v1/alerts/channels/{id}': ['changeAlertChannel', { path: CHANNEL, request: { enabled: false } }],
    'POST /admin/v1/alerts/channels/{id}/test': ['testAlertChannel', { path: CHANNEL }],
    'GET /admin/v1/alerts/rules': ['listAlertRules'],
    'PATCH /admin/v1/alerts/rules/{rule}': [
      'changeAlertRule',
      { path: { rule: 'target_up' }, request: { enabled: true } },
    ],
    'DELETE /admin/v1/alerts/channels/{id}': ['deleteAlertChannel', { path: CHANNEL }],
  }),
  ...tagged('People', {
    'GET /admin/v1/people': ['listPeople', { query: { limit: 2 } }],
    'POST /admin/v1/people': ['createPerson', { request: { name: 'Ann', role: 'operator', email: 'ann@example.com' } }],
    'GET /admin/v1/people/{id}': ['getPerson', { path: PERSON }],
    'PATCH /admin/v1/people/{id}': ['changePerson', { path: PERSON, request: { role: 'finance' } }],
    'POST /admin/v1/people/{id}/disable': ['disablePerson', { path: PERSON }],
    'POST /admin/v1/people/{id}/enable': ['enablePerson', { path: PERSON }],
    'POST /admin/v1/people/{id}/sign-out': ['signPersonOut', { path: PERSON }],
    'POST /admin/v1/people/{id}/login-link': ['createLoginLink', { path: PERSON }],
    'POST /admin/v1/login-link': ['createOwnerLink'],
    'DELETE /admin/v1/people/{id}': ['deletePerson', { path: PERSON }],
  }),
  ...tagged('Catalog', {
    'GET /admin/v1/providers': ['listProviders'],
    'POST /admin/v1/providers': ['createProvider', { body: ProviderForm, request: { name: 'local', ...PROVIDER } }],
    'PUT /admin/v1/providers/{name}': [
      'saveProvider',
      { body: providerInPath(), path: { name: 'local' }, request: PROVIDER },
    ],
    'DELETE /admin/v1/providers/{name}': ['deleteProvider', { path: { name: 'local' } }],
    'POST /admin/v1/providers/found-models': ['findModels', { request: { provider: 'sandbox' } }],
    'GET /admin/v1/models': ['listCatalogModels'],
    'POST /admin/v1/models': ['createModel', { body: ModelForm, request: { name: 'llama', ...MODEL } }],
    'PUT /admin/v1/models/{name}': ['saveModel', { body: modelInPath(), path: { name: 'llama' }, request: MODEL }],
    'DELETE /admin/v1/models/{name}': ['deleteModel', { path: { name: 'llama' } }],
    'POST /admin/v1/apply': [
      'applyFile',
      {
        body: catalogFile(),
        query: { file: 'modelport.yaml' },
        request: { providers: [{ name: 'local', ...PROVIDER }], models: [{ name: 'llama', ...MODEL }] },
      },
    ],
    'POST /admin/v1/secrets/rotate': ['rotateSecrets'],
    'GET /admin/v1/health/targets': ['listTargetHealth'],
    'POST /admin/v1/health/targets/{id}/cooldown': [
      'coolTargetDown',
      { path: { id: 'sandbox/sandbox-chat' }, request: { seconds: 60 } },
    ],
    'POST /admin/v1/health/targets/{id}/reset': ['resetTargetHealth', { path: { id: 'sandbox/sandbox-chat' } }],
    'POST /admin/v1/routing/explain': [
      'explainRouting',
      { request: { request: { model: 'sandbox-chat', messages: [{ role: 'user', content: 'Hello!' }] } } },
    ],
    'GET /admin/v1/prices': ['listPrices', { query: { model: 'sandbox-chat' } }],
    'POST /admin/v1/prices': [
      'setPrice',
      {
        request: { model: 'sandbox-chat', price: { input: '0.5', output: '1.5' }, replaces: 'price_1Zk3v9' },
        example: {
          id: 'price_7Qm2c4',
          model: 'sandbox-chat',
          price: { input: '0.5', output: '1.5' },
          createdAt: '2026-11-23T09:00:00.000Z',
        },
      },
    ],
    'GET /admin/v1/prices/diff': ['diffPrices', { query: { source: 'release', days: 30 }, accepted: PriceDiff }],
    'POST /admin/v1/prices/diff': ['diffPriceFile', { request: { prices: PRICE_FILE }, accepted: PriceDiff }],
    'POST /admin/v1/prices/adopt': [
      'adoptPrices',
      { request: { source: 'release', models: 'all', fingerprint: NO_DIFFERENCE } },
    ],
    'DELETE /admin/v1/prices/{id}': [
      'cancelPrice',
      { path: { id: 'price_1Zk3v9' }, example: { id: 'price_1Zk3v9', removed: true } },
    ],
    'GET /admin/v1/price-groups': ['listPriceGroups'],
    'PUT /admin/v1/price-groups/{name}': [
      'savePriceGroup',
      { path: { name: 'resellers' }, request: { factor: '1.2' } },
    ],
    'DELETE /admin/v1/price-groups/{name}': ['deletePriceGroup', { path: { name: 'resellers' } }],
  }),
  ...tagged('Records', {
    'GET /admin/v1/calls': [
      'listCalls',
      { query: { limit: 1 }, alsoAs: { ...CALL_TABLES, [PARQUET]: '(bytes of a Parquet file)' } },
    ],
    'GET /admin/v1/usage': ['getUsageOfAll', { query: { group_by: 'model,day', tz: 'Europe/Berlin' }, alsoAs: TABLES }],
    'GET /admin/v1/calls/stream': ['streamCalls', { replyType: 'text/event-stream', query: { model: 'sandbox-chat' } }],
    'GET /admin/v1/calls/{id}': ['getCall', { path: { id: 'req_1Zk3v9' } }],
    'GET /admin/v1/calls/{id}/payload': ['getPayload', { path: { id: 'req_1Zk3v9' }, example: PAYLOAD }],
    'POST /admin/v1/calls/{id}/dispute': [
      'settleDispute',
      { path: { id: 'req_1Zk3v9' }, request: { decision: 'accept' }, example: SETTLED },
    ],
    'GET /admin/v1/audit': ['listAudit', { query: { limit: 1 } }],
    'GET /admin/v1/ledger/verify': ['verifyLedger', { accepted: Verifying }],
    'POST /admin/v1/ledger/repair': ['repairLedger', { accepted: Verifying, request: { enter: false } }],
  }),
  ...tagged('Operation', {
    'GET /admin/v1/overview': ['getOverview'],
    'GET /admin/v1/settings': ['listSettings'],
  }),
};
