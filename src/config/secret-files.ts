/** Reads secrets from files (Docker and Kubernetes secrets): `NAME_FILE` names the file with the value of `NAME`. */
import { readFileSync } from 'node:fs';
import { type Environment, SettingError } from './setting-error.ts';

/** The secret of this name, trimmed, or `undefined` if it is not set. Throws SettingError. */
export function secretOf(env: Environment, name: string): string | undefined {
  const value = env[name]?.trim() || undefined;
  const path = env[`${name}_FILE`]?.trim();
  if (!path) return value;
  if (value) throw new SettingError(`${name} and ${name}_FILE are both set: set one of them.`);
  const text = readSecret(`${name}_FILE`, path);
  if (text) return text;
  throw new SettingError(`${name}_FILE names the file ${path}, which is empty.`);
}

function readSecret(variable: string, path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (cause) {
    throw new SettingError(`${variable} names the file ${path}, which cannot be read.`, { cause });
  }
}

/** The environment with these secrets read from their files. */
export function withSecretFiles(env: Environment, names: Iterable<string>): Environment {
  const read: { [name: string]: string | undefined } = { ...env };
  for (const name of names) if (env[`${name}_FILE`]) read[name] = secretOf(env, name);
  return read;
}
