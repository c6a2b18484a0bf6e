import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readAdminServer, readServerAddress } from './admin-server.ts';

const KEY = `sk-admin-${'k'.repeat(48)}`;
const OTHER = `sk-admin-${'o'.repeat(48)}`;
let folder: string;
let empty: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'modelport-admin-server-'));
  empty = join(folder, 'empty');
  mkdirSync(join(folder, 'data'));
  mkdirSync(empty);
  writeFileSync(join(folder, 'data', 'first-keys.env'), `MODELPORT_KEY=sk-caller\nMODELPORT_ADMIN_KEY=${KEY}\n`);
  writeFileSync(join(folder, 'key'), `${OTHER}\n`);
  writeFileSync(join(folder, 'blank'), 'two words\n');
  writeFileSync(join(folder, 'nothing'), '\n');
});
afterAll(() => rmSync(folder, { recursive: true }));

test("without options and variables it is this machine's server, with the key of its first start", () => {
  expect(readAdminServer({}, {}, folder)).toEqual({
    url: 'http://127.0.0.1:8080',
    key: KEY,
    keyFrom: join(folder, 'data', 'first-keys.env'),
    certificate: undefined,
  });
});

test.each([
  [{ PORT: '9000' }, 'http://127.0.0.1:9000'],
  [{ HOST: '0.0.0.0', PORT: '9000' }, 'http://127.0.0.1:9000'],
  [{ HOST: '::' }, 'http://[::1]:8080'],
  [{ HOST: '192.168.1.5' }, 'http://192.168.1.5:8080'],
  [{ MODELPORT_ADMIN_LISTEN: '127.0.0.1:9090' }, 'http://127.0.0.1:9090'],
  [{ MODELPORT_URL: 'https://models.example.com/', MODELPORT_ADMIN_KEY: OTHER }, 'https://models.example.com'],
  [{ MODELPORT_URL: 'https://example.com/models/', MODELPORT_ADMIN_KEY: OTHER }, 'https://example.com/models'],
])('%j selects the server at %s', (env, url) => {
  expect(readAdminServer(env, {}, folder).url).toBe(url);
});

test('the address alone needs no key, and is of this machine unless another is named', () => {
  const here = { url: 'http://127.0.0.1:9000', certificate: undefined, isLocal: true };
  expect(readServerAddress({ HOST: '0.0.0.0', PORT: '9000' }, undefined, empty)).toEqual(here);
  const other = { url: 'https://a.invalid', certificate: undefined, isLocal: false };
  expect(readServerAddress({ MODELPORT_URL: 'https://a.invalid' }, undefined, empty)).toEqual(other);
  expect(readServerAddress({ PORT: '0' }, 'https://a.invalid', empty)).toEqual(other);
  expect(() => readServerAddress({ PORT: '0' }, undefined, empty)).toThrow('name the URL of the server with --url');
});

test('options have precedence over the environment', () => {
  const env = { MODELPORT_URL: 'https://a.invalid', MODELPORT_ADMIN_KEY: KEY, PORT: '9000' };
  const options = { url: 'http://b.invalid:81', keyFile: 'key' };
  expect(readAdminServer(env, options, folder)).toEqual({
    url: 'http://b.invalid:81',
    key: OTHER,
    keyFrom: 'key',
    certificate: undefined,
  });
});

test('a key file can be the one of a first start, and a key can be in a file named by the environment', () => {
  const file = join(folder, 'data', 'first-keys.env');
  expect(readAdminServer({}, { url: 'http://b.invalid', keyFile: file }, empty).key).toBe(KEY);
  const env = { MODELPORT_ADMIN_KEY_FILE: join(folder, 'key') };
  expect(readAdminServer(env, {}, empty)).toMatchObject({ key: OTHER, keyFrom: 'MODELPORT_ADMIN_KEY' });
});

test('the first key of this machine is sent to no other server', () => {
  const asking = () => readAdminServer({}, { url: 'https://models.example.com' }, folder);
  expect(asking).toThrow('There is no admin key: set MODELPORT_ADMIN_KEY');
});

test.each([
  [
    {},
    {},
    'There is no admin key: set MODELPORT_ADMIN_KEY or MODELPORT_ADMIN_KEY_FILE, or name a file with --key-file.',
  ],
  [{ PORT: '0' }, {}, 'PORT is 0, any free port: name the URL of the server with --url or MODELPORT_URL.'],
  [{}, { url: 'models.example.com' }, '--url must be the URL of a server such as https://models.example.com.'],
  [{ MODELPORT_URL: 'ftp://a.invalid' }, {}, 'MODELPORT_URL must be the URL of a server such as'],
  [{}, { url: 'https://me:pass@a.invalid' }, '--url must not contain a password'],
  [{}, { keyFile: '../nowhere' }, 'cannot be read.'],
  [{}, { keyFile: '../nothing' }, 'which is empty.'],
  [{}, { keyFile: '../blank' }, 'does not contain an admin key: it begins with sk-admin- and has no spaces.'],
  [{ MODELPORT_ADMIN_KEYS: KEY }, {}, 'MODELPORT_ADMIN_KEYS is not a setting: did you mean MODELPORT_ADMIN_KEY?'],
])('%j and %j: %s', (env, options, sentence) => {
  expect(() => readAdminServer(env, options, empty)).toThrow(sentence);
});
