/** The errors for settings that are invalid or cannot be applied, and the type of the environment. */

/** An invalid setting. The message is one sentence for the operator and contains no secret. */
export class SettingError extends Error {
  override name = 'SettingError';
}

export type Environment = { readonly [variable: string]: string | undefined };

const REASONS: { readonly [code: string]: string } = {
  EADDRINUSE: 'another program already listens there',
  EADDRNOTAVAIL: 'this machine has no such address',
  EACCES: 'this user may not listen on that port',
};

/** When the gateway cannot listen on a port. `thrown`: the runtime's error, whose code tells the reason. */
export function cannotListen({ host, port }: { host: string; port: number }, thrown: unknown): SettingError {
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
  const reason = REASONS[code] ?? (thrown instanceof Error ? thrown.message : String(thrown));
  return new SettingError(`The gateway cannot listen on ${host}:${port}: ${reason}.`, { cause: thrown });
}
