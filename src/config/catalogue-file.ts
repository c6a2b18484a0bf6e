/** Reads the file of providers and models, replaces `${VARIABLE}`, and replaces paths of key files with their contents. */
import { readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { GatewayError } from '../canonical/errors.ts';
import { isObject, type Json, type JsonObject } from '../canonical/json.ts';
import { type CatalogueForm, readCatalogue } from '../catalog/catalogue.ts';
import { readKeyFile } from './key-file.ts';
import { secretOf } from './secret-files.ts';
import { type Environment, SettingError } from './setting-error.ts';

/** Reads the file. Throws SettingError. Its entries are valid; names of providers in targets are not checked yet. */
export function readCatalogueFile(path: string, env: Environment): CatalogueForm {
  const name = basename(path);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new SettingError(`The file ${path} cannot be read: it must be there and readable.`, { cause });
  }
  const form = readYaml(text, name, env) ?? {};
  if (!isObject(form)) throw new SettingError(`${name} must be an object with the members providers and models.`);
  for (const member of Object.keys(form)) {
    if (member === 'providers' || member === 'models') continue;
    throw new SettingError(`${name} has the unknown member "${member}": the members are providers and models.`);
  }
  readKeyFiles(form, name, dirname(path));
  try {
    readCatalogue(form);
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    throw new SettingError(`${name}: ${thrown.message}`, { cause: thrown });
  }
  return form;
}

/** Replaces paths of key files with their contents. */
function readKeyFiles({ providers }: JsonObject, file: string, folder: string): void {
  if (!Array.isArray(providers)) return;
  for (const [i, provider] of providers.entries()) {
    if (!isObject(provider)) continue;
    const read = (value: unknown, member: string) =>
      typeof value === 'string' ? readKeyFile(value, `${file}: providers[${i}].${member}`, folder) : value;
    if (provider.credential) provider.credential = read(provider.credential, 'credential') as Json;
    if (!Array.isArray(provider.credentials)) continue;
    provider.credentials = provider.credentials.map((one, j) => read(one, `credentials[${j}]`) as Json);
  }
}

// Variables are replaced after parsing, so that no character of a secret can change the structure. Until then a placeholder stands for
// each, with characters that have no meaning in YAML; `${` itself is not allowed inside `[ … ]`.
const VARIABLE = /\$\{([A-Za-z_]\w*)\}/g;
const MARK = /__variable__(\w+?)__end__/g;

function readYaml(text: string, file: string, env: Environment): unknown {
  let parsed: unknown;
  try {
    parsed = Bun.YAML.parse(text.replace(VARIABLE, '__variable__$1__end__'));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new SettingError(`${file} is not valid YAML: ${why}.`, { cause });
  }
  return fill(parsed, '');

  function fill(value: unknown, path: string): unknown {
    if (typeof value === 'string') return value.replace(MARK, (_, variable: string) => variableOf(variable, path));
    if (Array.isArray(value)) return value.map((item, i) => fill(item, `${path}[${i}]`));
    if (!isObject(value)) return value;
    const entries = Object.entries(value);
    return Object.fromEntries(entries.map(([name, item]) => [name, fill(item, path ? `${path}.${name}` : name)]));
  }

  function variableOf(variable: string, path: string): string {
    const found = secretOf(env, variable);
    if (found) return found;
    throw new SettingError(`${file}: ${path} needs the environment variable ${variable}, which is not set.`);
  }
}
