/** The output of a start: addresses, and on the first start how to begin. */

import type { FirstKeys } from './bootstrap.ts';
import type { Catalog } from './catalog/catalog.ts';
import type { Config } from './config.ts';

/** The ports in use. */
export interface Ports {
  main: number;
  admin: number | undefined;
}

/** What the first start shows. */
export interface FirstTime {
  keys: FirstKeys;
  /** The file with the keys; `undefined`: they are shown. */
  file: string | undefined;
  /** A model for the example; `undefined`: there is none. */
  model: string | undefined;
  /** The path of the console that signs the owner in, once. `undefined`: there is no console. */
  link?: string | undefined;
}

/** The sandbox's model if available. */
export function modelToTry(catalog: Pick<Catalog, 'find' | 'list'>): string | undefined {
  return catalog.find('sandbox-chat')?.name ?? catalog.list().find(({ kind }) => kind === 'chat')?.name;
}

export function greet(
  { host, adminListen, tls }: Pick<Config, 'host' | 'adminListen' | 'tls'>,
  ports: Ports,
  first: FirstTime | undefined,
  out: (line: string) => void,
  listing: readonly string[] = [],
): void {
  const address = addressOf(tls, host, ports.main);
  out(`Modelport listens on ${address}`);
  if (adminListen && ports.admin !== undefined)
    out(`The admin API and the metrics are on ${addressOf(tls, adminListen.host, ports.admin)}`);
  for (const line of listing) out(line);
  const console = ports.admin !== undefined && adminListen ? addressOf(tls, adminListen.host, ports.admin) : address;
  if (first) introduce(first, address, console, out);
}

const addressOf = (tls: Config['tls'], host: string, port: number) =>
  `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`;

function introduce(
  { keys, file, model, link }: FirstTime,
  address: string,
  console: string,
  out: (line: string) => void,
): void {
  const { apiKey, adminKey } = keys;
  const isShown = file === undefined && (apiKey !== undefined || adminKey !== undefined);
  const keysShown = isShown ? 'these keys are shown once:' : 'its keys are not shown here.';
  out('');
  out(`This is the first start. The account "default" has its credit; ${keysShown}`);
  out('');
  out(`  caller key  ${where(apiKey, file, 'MODELPORT_API_KEY')}`);
  out(`  admin key   ${where(adminKey, file, 'MODELPORT_ADMIN_KEY')}`);
  out('');
  if (file !== undefined) out(`Keep what is in ${file} and delete the file.`);
  if (link !== undefined) {
    out('Sign in to the console with this link, which works once and for 24 hours:');
    out('');
    out(`  ${console}${link}`);
    out('');
  }
  if (model === undefined) return;
  out('Try it:');
  out('');
  if (file !== undefined && apiKey !== undefined) out(`. ${quoted(file)}`);
  out(`curl -N ${address}/v1/chat/completions \\`);
  const key = isShown && apiKey !== undefined ? apiKey : apiKey === undefined ? '$MODELPORT_API_KEY' : '$MODELPORT_KEY';
  out(`  -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" \\`);
  const body = { model, stream: true, messages: [{ role: 'user', content: 'Hello!' }] };
  out(`  -d '${JSON.stringify(body)}'`);
  out('');
}

/** Keys given by the operator are never shown. */
function where(key: string | undefined, file: string | undefined, setting: string): string {
  if (key === undefined) return `the one in ${setting}`;
  return file === undefined ? key : `in ${file}`;
}

/** Quotes a path for a shell. */
const quoted = (path: string) => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);
