/** A target or a credential goes into cooldown, or comes out of it. */
export interface CooldownChange {
  readonly provider: string;
  /** The target (`main/gpt-4o`); absent: a credential, whatever model it is used for. */
  readonly target?: string;
  /** The place of the credential in the provider's list, from 1; absent: the whole target. */
  readonly place?: number;
  readonly reason: 'failing' | 'refused' | 'limited' | 'admin' | 'recovered';
  /** Until it is tried again. 0: it is used again. */
  readonly seconds: number;
}
