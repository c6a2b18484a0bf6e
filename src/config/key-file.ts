/** Reads credentials that are files. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { SettingError } from './setting-error.ts';

const KEY_FILE = /^(\/|\.{1,2}\/|[A-Za-z]:[\\/]).*\.json$/;

/** The content of the file if the credential is a path; otherwise the credential itself. `where`: its source, for messages. */
export function readKeyFile(credential: string, where: string, folder: string): string {
  if (!KEY_FILE.test(credential)) return credential;
  try {
    return readFileSync(resolve(folder, credential), 'utf8').trim();
  } catch (cause) {
    throw new SettingError(`${where} names the file ${credential}, which cannot be read.`, { cause });
  }
}
