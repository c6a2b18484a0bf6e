/** Parses single settings of the environment. An invalid one throws SettingError. */
import { readRange } from '../access/cidr.ts';
import { type Money, readMoney } from '../canonical/money.ts';
import { type Environment, SettingError } from './setting-error.ts';
import { SETTINGS, type Setting } from './settings.ts';

/** The longest time of a timer. */
export const LONGEST_MS = 2 ** 31 - 1;

export function readSetting(env: Environment, setting: Setting): string {
  return env[setting]?.trim() || SETTINGS[setting];
}

/** Words separated by commas or spaces. */
export function readWords(env: Environment, setting: Setting): string[] {
  return readSetting(env, setting)
    .split(/[\s,]+/)
    .filter(Boolean);
}

export function readRanges(env: Environment, setting: Setting): string[] {
  const words = readWords(env, setting);
  const wrong = words.find((word) => !readRange(word));
  if (wrong === undefined) return words;
  throw new SettingError(`${setting} must list addresses or ranges such as 10.0.0.0/8, not "${wrong}".`);
}

export function readInteger(env: Environment, setting: Setting, least: number, most: number): number {
  const text = readSetting(env, setting);
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new SettingError(`${setting} must be a whole number from ${least} to ${most}, not "${text}".`);
}

/** An amount of USD, not negative. */
export function readAmount(env: Environment, setting: Setting): Money {
  const text = readSetting(env, setting);
  const amount = readMoney(text);
  if (amount !== undefined && amount >= 0n) return amount;
  throw new SettingError(`${setting} must be an amount in USD such as 10 or 2.50, not "${text}".`);
}

export const readMs = (env: Environment, setting: Setting) => readInteger(env, setting, 1, LONGEST_MS);

export function readWord<W extends string>(env: Environment, setting: Setting, words: readonly W[]): W {
  const text = readSetting(env, setting);
  const word = words.find((known) => known === text.toLowerCase());
  if (word) return word;
  throw new SettingError(`${setting} must be one of ${words.join(', ')}, not "${text}".`);
}

const ON = ['on', 'true', '1', 'yes'] as const;
const OFF = ['off', 'false', '0', 'no'] as const;

export function readOn(env: Environment, setting: Setting): boolean {
  const text = readSetting(env, setting).toLowerCase();
  if (ON.some((word) => word === text)) return true;
  if (OFF.some((word) => word === text)) return false;
  throw new SettingError(`${setting} must be on or off, not "${text}".`);
}

export function readSandbox(env: Environment): 'on' | 'off' | 'auto' {
  const text = readSetting(env, 'MODELPORT_SANDBOX').toLowerCase();
  if (text === 'auto') return text;
  if (ON.some((word) => word === text)) return 'on';
  if (OFF.some((word) => word === text)) return 'off';
  throw new SettingError(`MODELPORT_SANDBOX must be on, off or auto, not "${text}".`);
}

/** An address and port to listen on. */
export interface ListenPlace {
  host: string;
  /** 0: any free port. */
  port: number;
}

const LISTEN = /^(?:([^\s:[\]]+)|\[([^\s[\]]+)\]):(\d{1,5})$/;

export function readListen(env: Environment, setting: Setting): ListenPlace | undefined {
  const text = readSetting(env, setting);
  if (text === '') return undefined;
  const [, name, address, port = ''] = LISTEN.exec(text) ?? [];
  const host = name ?? address;
  if (host !== undefined && Number(port) <= 65_535) return { host, port: Number(port) };
  throw new SettingError(`${setting} must be a host and a port such as 127.0.0.1:9090 or [::1]:9090, not "${text}".`);
}

/** A URL may contain a password, so the error does not repeat it. */
export function readAddress(env: Environment, setting: Setting, protocols: readonly string[], example: string) {
  const text = readSetting(env, setting);
  if (text === '' || protocols.includes(URL.parse(text)?.protocol ?? '')) return text;
  throw new SettingError(`${setting} must be a URL such as ${example}.`);
}

/** Shorter keys could be guessed. */
const LEAST_KEY_CHARACTERS = 24;

export function readKey(env: Environment, setting: Setting, form: RegExp, prefix: string): string {
  const text = readSetting(env, setting);
  if (text === '') return text;
  if (!form.test(text)) throw new SettingError(`${setting} must begin with ${prefix} and have no spaces.`);
  if (text.length >= LEAST_KEY_CHARACTERS) return text;
  throw new SettingError(
    `${setting} has ${text.length} characters and must have at least ${LEAST_KEY_CHARACTERS}: use ${prefix} and 48 random ones.`,
  );
}

const LEAST_SECRET_CHARACTERS = 32;

export function readSecretKey(env: Environment, setting: Setting): string {
  const text = readSetting(env, setting);
  if (text === '' || text.length >= LEAST_SECRET_CHARACTERS) return text;
  throw new SettingError(
    `${setting} must have at least ${LEAST_SECRET_CHARACTERS} characters: use the output of "openssl rand -base64 32".`,
  );
}
