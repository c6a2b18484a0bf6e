/** What is in `deploy/` names only metrics, labels, settings and files that exist. */
import { expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { refuseUnknown, SETTINGS } from '../src/config/settings.ts';
import { createMetrics } from '../src/telemetry/metrics/metrics.ts';
import { exportFamilies } from '../src/telemetry/traces/exporter.ts';
import { readImageConfig } from './helpers/image-config.ts';

const DEPLOY = join(import.meta.dirname, '..', 'deploy');
/** Labels that Prometheus and the merging of processes add. */
const ADDED = ['job', 'instance', 'process'];

/** By name: the labels of every series that a scrape may have. */
const KNOWN = await everySeries();

async function everySeries(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const metrics = createMetrics(0);
  metrics.redisIsUp(true);
  metrics.add(exportFamilies);
  const families = await metrics.collect({
    gateway: { active: 0 },
    store: { heldSum: () => Promise.resolve({ open: 0, amount: 0n }) },
    catalog: { list: () => [], routing: { targetState: () => undefined as never } },
  });
  const known = new Map<string, ReadonlySet<string>>();
  for (const { name, type, labels } of families) {
    const all = [...labels, ...ADDED];
    if (type === 'histogram') {
      known.set(`${name}_bucket`, new Set([...all, 'le']));
      for (const part of ['sum', 'count']) known.set(`${name}_${part}`, new Set(all));
    } else known.set(name, new Set(all));
  }
  return known;
}

const WORDS = new Set(['by', 'without', 'and', 'or', 'unless', 'on', 'ignoring', 'group_left', 'group_right', 'bool']);

/** What is wrong with a PromQL expression: an unknown name, or a label that none of its metrics has. */
function faultsOf(query: string): string[] {
  const text = query.replace(/"(?:[^"\\]|\\.)*"/g, '""');
  const faults: string[] = [];
  const labels = new Set<string>();
  const named: string[] = [];
  for (const [, list = ''] of text.matchAll(/\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g))
    for (const label of list.split(',')) labels.add(label.trim());
  const bare = text.replace(/\b(?:by|without|on|ignoring)\s*\([^)]*\)/g, ' ').replace(/\[[^\]]*\]/g, ' ');
  for (const [, name = '', matchers = ''] of bare.matchAll(/([a-zA-Z_:][\w:]*)\s*(?:\{([^}]*)\})?(?!\s*\(|\w)/g)) {
    if (WORDS.has(name)) continue;
    const known = KNOWN.get(name);
    if (!known) {
      faults.push(`${name} is no metric`);
      continue;
    }
    named.push(name);
    for (const [, label = ''] of matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g))
      if (!known.has(label)) faults.push(`${name} has no label ${label}`);
  }
  for (const label of labels)
    if (!named.every((name) => KNOWN.get(name)?.has(label))) faults.push(`not all of ${named} have the label ${label}`);
  return named.length === 0 ? [...faults, 'names no metric'] : faults;
}

interface Panel {
  title: string;
  targets?: { expr: string; legendFormat: string }[];
}
interface Dashboard {
  uid: string;
  panels: Panel[];
  templating: { list: { name: string; query: string | { query: string } }[] };
}

test('the check finds names and labels that do not exist', () => {
  expect(faultsOf('sum(rate(modelport_calls_total{outcome="ok"}[5m]))')).toEqual([]);
  expect(faultsOf('sum(rate(modelport_call_total[5m]))')).toEqual([
    'modelport_call_total is no metric',
    'names no metric',
  ]);
  expect(faultsOf('modelport_calls_total{tenant="a"}')).toEqual(['modelport_calls_total has no label tenant']);
  expect(faultsOf('sum by (status) (modelport_calls_total)')).toEqual([
    'not all of modelport_calls_total have the label status',
  ]);
  expect(faultsOf('modelport_request_duration_seconds')).toContain('modelport_request_duration_seconds is no metric');
});

const dashboards = readdirSync(join(DEPLOY, 'grafana')).filter((name) => name.endsWith('.json'));

test.each(dashboards)('the dashboard %s queries what exists', (name) => {
  const dashboard: Dashboard = JSON.parse(readFileSync(join(DEPLOY, 'grafana', name), 'utf8'));
  const queries = dashboard.panels.flatMap(({ title, targets = [] }) => targets.map((one) => ({ title, ...one })));
  expect(queries.length).toBeGreaterThan(20);
  for (const { title, expr, legendFormat } of queries) {
    expect({ title, expr, faults: faultsOf(expr) }).toEqual({ title, expr, faults: [] });
    const [, grouped = ''] = /by \(([^)]*)\)/.exec(expr) ?? [];
    for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) expect(grouped.split(/, */)).toContain(label);
  }
  for (const { name: variable, query } of dashboard.templating.list) {
    if (typeof query === 'string') continue;
    const [, metric = '', label = ''] = /^label_values\((\w+), (\w+)\)$/.exec(query.query) ?? [];
    expect({ variable, exists: KNOWN.get(metric)?.has(label) }).toEqual({ variable, exists: true });
  }
});

interface Rules {
  groups: { rules: { alert: string; expr: string; annotations: { summary: string } }[] }[];
}

test('the alert rules query what exists', () => {
  const { groups } = Bun.YAML.parse(readFileSync(join(DEPLOY, 'prometheus', 'alerts.yaml'), 'utf8')) as Rules;
  const rules = groups.flatMap((group) => group.rules);
  expect(rules.length).toBeGreaterThan(8);
  for (const { alert, expr, annotations } of rules) {
    expect({ alert, faults: faultsOf(expr) }).toEqual({ alert, faults: [] });
    for (const [, label = ''] of annotations.summary.matchAll(/\$labels\.(\w+)/g)) expect(expr).toContain(label);
  }
});

const read = (path: string) => readFileSync(join(DEPLOY, path), 'utf8');
const yaml = <T>(path: string) => Bun.YAML.parse(read(path)) as T;
const { version } = JSON.parse(readFileSync(join(DEPLOY, '..', 'package.json'), 'utf8')) as { version: string };
/** The user of the image, by number: it must be the same in each file. */
const USER = 65532;

/** What the gateway reports at its start about these variables; nothing if it knows them all. */
function refusal(names: Iterable<string>): string | undefined {
  try {
    refuseUnknown(Object.fromEntries([...names].map((name) => [name, 'any'])));
    return undefined;
  } catch (thrown) {
    return (thrown as Error).message;
  }
}

interface Service {
  image: string;
  profiles?: string[];
  environment?: { [name: string]: string | number };
  ports?: string[];
  volumes?: string[];
  stop_grace_period?: string;
  read_only?: boolean;
  networks?: { default: { ipv4_address: string } };
}
interface Compose {
  services: { [name: string]: Service };
  volumes: { [name: string]: null };
}

test('compose runs the gateway alone, and every other part is a profile', () => {
  const { services, volumes } = yaml<Compose>('compose.yaml');
  const { modelport, ...others } = services;
  const profiles = Object.entries(others).map(([name, { profiles = [] }]) => [name, ...profiles]);
  expect(profiles).toEqual([
    ['postgres', 'postgres'],
    ['redis', 'redis'],
    ['prometheus', 'monitoring'],
    ['grafana', 'monitoring'],
    ['caddy', 'tls'],
  ]);
  // What is not built here is pinned as the bases of the image are.
  for (const { image } of Object.values(others)) expect(image).toMatch(/^[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}$/);
  const environment = modelport?.environment ?? {};
  expect(refusal(Object.keys(environment))).toBeUndefined();
  expect(parseInt(modelport?.stop_grace_period ?? '', 10) * 1000).toBeGreaterThan(
    Number(environment.MODELPORT_DRAIN_MS),
  );
  expect(modelport?.read_only).toBe(true);
  expect(environment.MODELPORT_TRUSTED_PROXIES).toBe(others.caddy?.networks?.default.ipv4_address as string);
  for (const [name, { ports = [], volumes: mounted = [] }] of Object.entries(services)) {
    if (name !== 'caddy') for (const port of ports) expect(port).toStartWith('127.0.0.1:');
    for (const [source = ''] of mounted.map((mount) => mount.split(':')))
      expect({
        source,
        exists: source.startsWith('./') ? existsSync(join(DEPLOY, source)) : source in volumes,
      }).toEqual({
        source,
        exists: true,
      });
  }
});

test('Prometheus asks the gateway by a name and a port that it answers to, and has the alert rules', () => {
  const { scrape_configs, rule_files } = yaml<{
    scrape_configs: { static_configs: { targets: string[] }[] }[];
    rule_files: string[];
  }>('prometheus/prometheus.yml');
  const { environment = {} } = yaml<Compose>('compose.yaml').services.modelport ?? {};
  const port = String(environment.MODELPORT_ADMIN_LISTEN).split(':')[1];
  expect(scrape_configs[0]?.static_configs[0]?.targets).toEqual([`${environment.MODELPORT_ADMIN_HOSTS}:${port}`]);
  for (const file of rule_files) expect(existsSync(join(DEPLOY, 'prometheus', file))).toBe(true);
});

test('the image has pinned bases, a user by number, and a health check that needs no shell', () => {
  const image = readImageConfig();
  expect(image.bases).toHaveLength(2);
  for (const base of image.bases)
    expect(base).toMatch(/^(--platform=\$BUILDPLATFORM )?\S+:\S+@sha256:[0-9a-f]{64}( AS build)?$/);
  expect(image.user).toBe(`${USER}:${USER}`);
  expect(image.health).toEqual([...image.entrypoint, 'health']);
  expect(image).toMatchObject({
    command: ['serve'],
    stopSignal: 'SIGTERM',
    volume: image.environment.MODELPORT_DATA_DIR,
  });
  expect(refusal(Object.keys(image.environment))).toBeUndefined();
});

const CHART = 'helm/modelport';
interface Schema {
  additionalProperties?: unknown;
  properties?: { [name: string]: Schema };
}

/** Paths of values, as far as the schema describes each member. */
function valuePaths(values: unknown, schema: Schema | undefined, path = ''): string[] {
  if (typeof values !== 'object' || values === null || Array.isArray(values)) return [path];
  if (schema && !schema.properties) return [path];
  return Object.entries(values).flatMap(([name, value]) =>
    valuePaths(value, schema?.properties?.[name], path === '' ? name : `${path}.${name}`),
  );
}
function schemaPaths({ properties }: Schema, path = ''): string[] {
  if (!properties) return [path];
  return Object.entries(properties).flatMap(([name, schema]) =>
    schemaPaths(schema, path === '' ? name : `${path}.${name}`),
  );
}

test('the chart is of this version, its schema has every value, and what it sets exists', () => {
  const chart = yaml<{ version: string; appVersion: string }>(`${CHART}/Chart.yaml`);
  expect(chart).toMatchObject({ version, appVersion: version });
  const values = yaml<{ drainSeconds: number; autoscaling: { metric: string } }>(`${CHART}/values.yaml`);
  const schema: Schema = JSON.parse(read(`${CHART}/values.schema.json`));
  const inSchema = schemaPaths(schema).filter((path) => path !== 'global');
  expect(valuePaths(values, schema).sort()).toEqual(inSchema.sort());
  expect(values.drainSeconds * 1000).toBeGreaterThanOrEqual(Number(SETTINGS.MODELPORT_WHOLE_TIMEOUT_MS));
  expect(KNOWN.has(values.autoscaling.metric)).toBe(true);
  const pod = read(`${CHART}/templates/_helpers.tpl`);
  expect(refusal([...pod.matchAll(/name: ([A-Z_]+)/g)].map(([, name = '']) => name))).toBeUndefined();
  // A Service named "modelport" gives pods MODELPORT_PORT, with which the gateway does not start.
  expect(refusal(['MODELPORT_SERVICE_HOST'])).toContain('is not a setting');
  expect(pod).toContain('enableServiceLinks: false');
  expect(pod).toContain(`runAsUser: ${USER}`);
});

test('the unit of systemd sets what exists, and waits longer than the gateway', () => {
  const unit = read('systemd/modelport.service');
  const all = [...unit.matchAll(/^Environment=(.*)$/gm)].flatMap(([, list = '']) => list.split(' '));
  const environment = Object.fromEntries(all.map((one) => one.split('=') as [string, string]));
  expect(refusal(Object.keys(environment))).toBeUndefined();
  const [, seconds] = /^TimeoutStopSec=(\d+)$/m.exec(unit) ?? [];
  expect(Number(seconds) * 1000).toBeGreaterThan(Number(environment.MODELPORT_DRAIN_MS));
  const [, credential] = /^LoadCredential=([^:]+):/m.exec(unit) ?? [];
  expect(environment.MODELPORT_SECRET_KEY_FILE).toBe(`%d/${credential}`);
  // The runtime compiles to machine code: with this the service would not start.
  expect(unit).not.toMatch(/^MemoryDenyWriteExecute=/m);
});

test('every action of a workflow is pinned by its commit, with its version beside it', () => {
  const folder = join(DEPLOY, '..', '.github', 'workflows');
  const used = readdirSync(folder).flatMap((name) => [
    ...readFileSync(join(folder, name), 'utf8').matchAll(/^\s*(?:- )?uses: (.*)$/gm),
  ]);
  expect(used.length).toBeGreaterThan(10);
  for (const [, action = ''] of used) expect(action).toMatch(/^[\w.-]+\/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});
