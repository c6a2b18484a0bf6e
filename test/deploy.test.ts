/** The dashboard and the alert rules in `deploy/` query only metrics and labels that exist. */
import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createMetrics } from '../src/telemetry/metrics/metrics.ts';
import { exportFamilies } from '../src/telemetry/traces/exporter.ts';

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
    store: { holds: () => Promise.resolve([]) },
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
