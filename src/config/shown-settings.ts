/** The settings in force for the admin API: each with where it comes from, never the value of a secret. */
import { readSetting } from './read-settings.ts';
import type { Environment } from './setting-error.ts';
import { SECRETS, SETTINGS, type Setting } from './settings.ts';

type SettingSource = 'default' | 'environment' | 'file';

interface ShownSetting {
  name: string;
  /** Absent if it is not set, and for secrets. */
  value?: string;
  /** `file`: a secret from the file that `<name>_FILE` names. */
  source: SettingSource;
  isSecret: boolean;
  isSet: boolean;
}

/** All settings in the order of their documentation. Reads no file: a secret's file may be gone since the start. */
export function shownSettings({ dataDir }: { dataDir: string }, env: Environment): ShownSetting[] {
  return (Object.keys(SETTINGS) as Setting[]).map((name) => {
    const isSecret = SECRETS.has(name);
    const source = sourceOf(env, name, isSecret);
    if (isSecret) return { name, source, isSecret, isSet: source !== 'default' };
    const value = name === 'MODELPORT_DATA_DIR' ? dataDir : withoutPassword(readSetting(env, name));
    return { name, ...(value && { value }), source, isSecret, isSet: value !== '' };
  });
}

function sourceOf(env: Environment, name: Setting, isSecret: boolean): SettingSource {
  if (env[name]?.trim()) return 'environment';
  return isSecret && env[`${name}_FILE`]?.trim() ? 'file' : 'default';
}

/** A URL may contain a name and a password. */
const withoutPassword = (value: string): string => value.replace(/\/\/[^/\s]*@/g, '//***@');
