/** Settings of self-registration. */
import type { RegistrationSettings } from '../people/registration.ts';
import { readAmount, readInteger, readOn, readSetting, readWords } from './read-settings.ts';
import { type Environment, SettingError } from './setting-error.ts';

/** `undefined`: registration is off. */
export function readRegistration(env: Environment): RegistrationSettings | undefined {
  if (!readOn(env, 'MODELPORT_REGISTRATION')) return undefined;
  const publicUrl = readSetting(env, 'MODELPORT_PUBLIC_URL').replace(/\/+$/, '');
  if (publicUrl === '')
    throw new SettingError('MODELPORT_REGISTRATION needs MODELPORT_PUBLIC_URL too: the mails have a link to it.');
  const credit = readAmount(env, 'MODELPORT_REGISTRATION_CREDIT');
  const daily = {
    people: readInteger(env, 'MODELPORT_REGISTRATION_DAILY_PEOPLE', 1, 1_000_000),
    credit: readAmount(env, 'MODELPORT_REGISTRATION_DAILY_CREDIT'),
  };
  if (credit > daily.credit)
    throw new SettingError(
      'MODELPORT_REGISTRATION_CREDIT is more than MODELPORT_REGISTRATION_DAILY_CREDIT: nobody could register.',
    );
  const domains = readWords(env, 'MODELPORT_REGISTRATION_EMAIL_DOMAINS').map((domain) => domain.toLowerCase());
  return { credit, daily, domains, publicUrl };
}
