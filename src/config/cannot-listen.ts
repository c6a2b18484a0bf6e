/** What the operator is told where a port cannot be listened on. */
import { SettingError } from './setting-error.ts';

const REASONS: { readonly [code: string]: string } = {
  EADDRINUSE: 'another program listens there',
  EADDRNOTAVAIL: 'this machine has no such address',
  EACCES: 'this user may not listen on that port',
};

/** `thrown`: what the runtime says, which leaves the reason to its code. */
export function cannotListen({ host, port }: { host: string; port: number }, thrown: unknown): SettingError {
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
  const reason = REASONS[code] ?? (thrown instanceof Error ? thrown.message : String(thrown));
  return new SettingError(`The gateway cannot listen on ${host}:${port}: ${reason}.`, { cause: thrown });
}
