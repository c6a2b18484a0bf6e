/** Reads the TLS certificate and its key. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Certificate } from '../http1/server.ts';
import { readSetting } from './read-settings.ts';
import { type Environment, SettingError } from './setting-error.ts';

/** `undefined` if none is configured. `folder`: the base of relative paths. Throws SettingError. */
export function readCertificate(env: Environment, folder: string): Certificate | undefined {
  const cert = readPem(env, 'MODELPORT_TLS_CERT', folder);
  const key = readPem(env, 'MODELPORT_TLS_KEY', folder);
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined)
    throw new SettingError('MODELPORT_TLS_CERT and MODELPORT_TLS_KEY must be set together.');
  const certificate = parsed('MODELPORT_TLS_CERT', 'certificate', () => new X509Certificate(cert));
  const privateKey = parsed('MODELPORT_TLS_KEY', 'private key without a passphrase', () => createPrivateKey(key));
  if (!certificate.checkPrivateKey(privateKey))
    throw new SettingError('The key of MODELPORT_TLS_KEY does not belong to the certificate in MODELPORT_TLS_CERT.');
  return { cert, key };
}

type TlsSetting = 'MODELPORT_TLS_CERT' | 'MODELPORT_TLS_KEY';

function readPem(env: Environment, name: TlsSetting, folder: string): string | undefined {
  const path = readSetting(env, name);
  if (path === '') return undefined;
  try {
    return readFileSync(resolve(folder, path), 'utf8');
  } catch (cause) {
    throw new SettingError(`${name} names ${path}, which cannot be read.`, { cause });
  }
}

function parsed<T>(name: TlsSetting, what: string, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    throw new SettingError(`${name} must name a file that contains a ${what} as PEM.`, { cause });
  }
}
