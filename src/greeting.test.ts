import { expect, test } from 'bun:test';
import { type FirstTime, greet } from './greeting.ts';

function greeting(first: FirstTime | undefined): string {
  const lines: string[] = [];
  const config = { host: '::1', adminListen: { host: '127.0.0.1', port: 9090 } };
  greet(config, { main: 8080, admin: 9090 }, first, (line) => lines.push(line));
  return lines.join('\n');
}

const keys = { apiKey: 'sk-random', adminKey: 'sk-admin-random' };
const FIRST: FirstTime = { keys, file: undefined, model: 'sandbox-chat' };

test('a start prints its address', () => {
  expect(greeting(undefined)).toBe(
    'Modelport listens on http://[::1]:8080\nThe admin API and the metrics are on http://127.0.0.1:9090',
  );
});

test('on a terminal random keys are shown once, with a command to paste', () => {
  const text = greeting(FIRST);
  expect(text).toContain('  caller key  sk-random\n  admin key   sk-admin-random\n');
  expect(text).toContain('curl -N http://[::1]:8080/v1/chat/completions \\\n  -H "Authorization: Bearer sk-random"');
});

test('otherwise the keys are in a file', () => {
  const text = greeting({ ...FIRST, file: '/data/first keys.env' });
  expect(text).not.toContain('sk-');
  expect(text).toContain("\n. '/data/first keys.env'\ncurl ");
  expect(text).toContain('Bearer $MODELPORT_KEY');
});

test('keys given by the operator are referred to by their setting', () => {
  const text = greeting({ ...FIRST, keys: { apiKey: undefined, adminKey: undefined } });
  expect(text).not.toContain('sk-');
  expect(text).toContain('caller key  the one in MODELPORT_API_KEY');
  expect(text).toContain('Bearer $MODELPORT_API_KEY');
});

test('without a model no command is suggested', () => {
  expect(greeting({ ...FIRST, model: undefined })).not.toContain('curl');
});
