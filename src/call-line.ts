/** A call as a line of the log: never a prompt, a reply or a secret. */
import { writeMoney } from './canonical/money.ts';
import type { Usage } from './canonical/usage.ts';
import { errorMembers } from './log.ts';
import type { CallRow } from './store/store.ts';

export class CallLine {
  readonly #call: CallRow;
  readonly #usage: Usage | undefined;
  readonly #lost: number;
  readonly #cause: unknown;

  /** `lost`: how much its translation could not say; `cause`: what went wrong behind a failure. */
  constructor(call: CallRow, usage: Usage | undefined, lost: number, cause: unknown) {
    this.#call = call;
    this.#usage = usage;
    this.#lost = lost;
    this.#cause = cause;
  }

  /** Its members, when the line is written. */
  toJSON(): object {
    const call = this.#call;
    const members = {
      id: call.id,
      account: call.account,
      key: call.key,
      model: call.model,
      provider: call.provider,
      targetModel: call.targetModel,
      dialect: call.dialect,
      upstreamDialect: call.upstreamDialect,
      stream: call.stream,
      status: call.status,
      outcome: call.outcome,
      errorCode: call.errorCode,
      attempts: call.attempts,
      cost: writeMoney(call.cost),
      usage: this.#usage,
      lost: this.#lost > 0 ? this.#lost : undefined,
      durationMs: call.durationMs,
      firstByteMs: call.firstByteMs,
    };
    return this.#cause === undefined ? members : { ...members, ...errorMembers(this.#cause) };
  }
}
