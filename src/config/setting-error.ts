/** The error for invalid settings, and the type of the environment. */

/** An invalid setting. The message is one sentence for the operator and contains no secret. */
export class SettingError extends Error {
  override name = 'SettingError';
}

export type Environment = { readonly [variable: string]: string | undefined };
