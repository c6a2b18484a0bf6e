import { expect, test } from 'bun:test';
import { HUB_ADDRESS, networkCommands } from './namespaces.ts';
import { balancerConfiguration, writeMachines } from './two-machines.ts';

test('each machine has one address, one way to the hub, and none to anywhere else', () => {
  const machines = [
    { namespace: 'x-1', address: '198.18.1.1' },
    { namespace: 'x-2', address: '198.18.2.1' },
  ];
  const commands = networkCommands('x-hub', machines).map((words) => words.join(' '));
  for (const { namespace, address } of machines) {
    expect(commands.filter((line) => line.startsWith(`ip -n ${namespace} route`))).toEqual([
      `ip -n ${namespace} route add ${HUB_ADDRESS}/32 dev eth0`,
    ]);
    expect(commands.filter((line) => line.includes(`address add ${address}/32`))).toHaveLength(1);
  }
  // Nothing is changed outside of the namespaces.
  for (const line of commands) expect(line).toMatch(/^ip (netns add|-n) x-/);
});

test('the balancer buffers nothing and knows every gateway', () => {
  const text = balancerConfiguration('/folder', [
    { host: '198.18.1.1', port: 8080 },
    { host: '198.18.2.1', port: 8081 },
  ]);
  expect(text).toContain('server 198.18.1.1:8080;\n    server 198.18.2.1:8081;');
  expect(text).toContain('proxy_buffering off;');
});

test('the tables have a line for each setup, and one for the streams', () => {
  const calls = {
    requestsPerSecond: 900.4,
    cpuPerRequestUs: 400.2,
    p50Ms: 11.04,
    p99Ms: 30,
    memoryMb: 200,
    failures: 0,
  };
  const streams = { streams: 10_000, firstTokenP99Ms: 90.4, chunks: 60_000, latePercent: 0.5, cpuPerChunkUs: 50 };
  const lines = writeMachines([{ title: '2 machines', ...calls }], { ...streams, memoryMb: 800, failures: 1 }).split(
    '\n',
  );
  expect(lines).toContain('| 2 machines | 900 | 400 | 11.0 | 30.0 | 200 | 0 |');
  expect(lines.at(-1)).toBe('| 10000 | 90 | 60000 | 0.50 | 50 | 800 | 1 |');
});
