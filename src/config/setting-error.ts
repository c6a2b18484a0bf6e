/** What is thrown where a setting cannot be used, and what settings are read from. */

/** A setting that cannot be used. The message is one sentence for the operator and never holds a secret. */
export class SettingError extends Error {
  override name = 'SettingError';
}

export type Environment = { readonly [variable: string]: string | undefined };
