/** The server and admin key that the command line uses. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readCertificate } from './certificate.ts';
import { readInteger, readListen, readSetting } from './read-settings.ts';
import { secretOf } from './secret-files.ts';
import { type Environment, SettingError } from './setting-error.ts';
import { refuseUnknown } from './settings.ts';

/** The file to which a first start writes its random keys. */
export const FIRST_KEYS_FILE = 'first-keys.env';

/** Command-line options. Absent: the environment decides. */
export interface ServerArguments {
  url?: string | undefined;
  keyFile?: string | undefined;
}

export interface AdminServer {
  /** Without a trailing slash. */
  url: string;
  key: string;
  /** The source of the key, for messages. */
  keyFrom: string;
  /** The certificate of the server on this machine. */
  certificate: string | undefined;
}

/** `folder`: the base of relative paths. Throws SettingError. */
export function readAdminServer(env: Environment, given: ServerArguments, folder = process.cwd()): AdminServer {
  const { isLocal, ...server } = readServerAddress(env, given.url, folder);
  const dataDir = resolve(folder, readSetting(env, 'MODELPORT_DATA_DIR'));
  return { ...server, ...findKey(env, given.keyFile, isLocal ? join(dataDir, FIRST_KEYS_FILE) : undefined, folder) };
}

/** Where a server is, without a key. `isLocal`: it is the one that these settings would start. Throws SettingError. */
export function readServerAddress(
  env: Environment,
  url: string | undefined,
  folder = process.cwd(),
): Pick<AdminServer, 'url' | 'certificate'> & { isLocal: boolean } {
  refuseUnknown(env);
  const named = url?.trim() || env.MODELPORT_URL?.trim();
  if (!named) return { ...localServer(env, folder), isLocal: true };
  return { url: readUrl(named, url ? '--url' : 'MODELPORT_URL'), certificate: undefined, isLocal: false };
}

function readUrl(text: string, name: string): string {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol))
    throw new SettingError(`${name} must be the URL of a server such as https://models.example.com.`);
  if (url.username || url.password)
    throw new SettingError(`${name} must not contain a password: the admin key has a setting of its own.`);
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

/** The server that these settings would start. */
function localServer(env: Environment, folder: string): Pick<AdminServer, 'url' | 'certificate'> {
  const place = readListen(env, 'MODELPORT_ADMIN_LISTEN') ?? {
    host: readSetting(env, 'HOST'),
    port: readInteger(env, 'PORT', 0, 65_535),
  };
  if (place.port === 0)
    throw new SettingError('PORT is 0, any free port: name the URL of the server with --url or MODELPORT_URL.');
  const tls = readCertificate(env, folder);
  const host = LOCAL.get(place.host) ?? place.host;
  const written = host.includes(':') ? `[${host}]` : host;
  return { url: `${tls ? 'https' : 'http'}://${written}:${place.port}`, certificate: tls?.cert };
}

/** A server that listens on all addresses is reached at the local address. */
const LOCAL: ReadonlyMap<string, string> = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
]);

function findKey(
  env: Environment,
  keyFile: string | undefined,
  firstKeys: string | undefined,
  folder: string,
): Pick<AdminServer, 'key' | 'keyFrom'> {
  if (keyFile !== undefined) return { key: readKeyOf(resolve(folder, keyFile)), keyFrom: keyFile };
  const key = secretOf(env, 'MODELPORT_ADMIN_KEY');
  if (key !== undefined) return { key: checked(key, 'MODELPORT_ADMIN_KEY'), keyFrom: 'MODELPORT_ADMIN_KEY' };
  const first = firstKeys === undefined ? undefined : keyIn(readIfThere(firstKeys) ?? '');
  if (first !== undefined && firstKeys !== undefined) return { key: checked(first, firstKeys), keyFrom: firstKeys };
  const places = 'set MODELPORT_ADMIN_KEY or MODELPORT_ADMIN_KEY_FILE, or name a file with --key-file';
  throw new SettingError(`There is no admin key: ${places}.`);
}

/** A file with only the key, or a file written by a first start. */
function readKeyOf(path: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new SettingError(`--key-file names ${path}, which cannot be read.`, { cause });
  }
  const key = keyIn(text) ?? text.trim();
  if (key === '') throw new SettingError(`--key-file names ${path}, which is empty.`);
  return checked(key, path);
}

const keyIn = (text: string): string | undefined => /^MODELPORT_ADMIN_KEY=(.*)$/m.exec(text)?.[1]?.trim() || undefined;

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (thrown) {
    if ((thrown as { code?: string }).code === 'ENOENT') return undefined;
    throw new SettingError(`The admin key in ${path} cannot be read: set MODELPORT_ADMIN_KEY or name a --key-file.`, {
      cause: thrown,
    });
  }
}

/** Other characters are not allowed in a header. */
function checked(key: string, where: string): string {
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new SettingError(`${where} does not contain an admin key: it begins with sk-admin- and has no spaces.`);
}
