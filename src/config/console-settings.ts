/** Settings of the console. */
import type { OidcSettings } from '../people/oidc-claims.ts';
import type { RegistrationSettings } from '../people/registration.ts';
import type { SessionTimes } from '../people/sessions.ts';
import { readOidc } from './oidc-settings.ts';
import { readInteger, readOn } from './read-settings.ts';
import { readRegistration } from './registration-settings.ts';
import type { Environment } from './setting-error.ts';

export interface ConsoleSettings {
  /** How long sessions last. */
  times: SessionTimes;
  /** Absent: no sign-in by OIDC. */
  oidc?: OidcSettings;
  /** Absent: registration is off. */
  registration?: RegistrationSettings;
}

/** Absent: there is no console. */
export function readConsole(env: Environment): { console?: ConsoleSettings } {
  const idleMs = readInteger(env, 'MODELPORT_SESSION_IDLE_HOURS', 1, 8760) * 3_600_000;
  const longestMs = readInteger(env, 'MODELPORT_SESSION_DAYS', 1, 365) * 86_400_000;
  const oidc = readOidc(env);
  const registration = readRegistration(env);
  const console = { times: { idleMs, longestMs }, ...(oidc && { oidc }), ...(registration && { registration }) };
  return readOn(env, 'MODELPORT_CONSOLE') ? { console } : {};
}
