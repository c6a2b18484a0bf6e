/** The statements of a registration. The engines run them, and book its credit, in one transaction. */
import { DAY_MS } from '../../canonical/time.ts';
import { insertInto, type Steps, sql } from '../database.ts';
import type { NewRegistration, RegistrationOutcome } from '../registrations.ts';
import type { LedgerStep } from '../rows.ts';
import { insertAccount } from './account-table.ts';
import { insertAudit } from './audit-table.ts';
import { insertPerson } from './people-table.ts';

/** Ends a transaction that must not be kept. */
class NotRegistered extends Error {
  readonly outcome: RegistrationOutcome;
  constructor(outcome: RegistrationOutcome) {
    super(outcome);
    this.outcome = outcome;
  }
}

/** Returns the ledger steps that follow. Throws `NotRegistered`. */
export function* registrationSteps(given: NewRegistration): Steps<readonly LedgerStep[]> {
  const { token, person, account, mailbox, audits, at } = given;
  const used =
    yield sql`DELETE FROM sign_in_tokens WHERE hash = ${token.hash} AND kind = ${token.kind} AND expires_at > ${at} RETURNING id`;
  if (used.length === 0) throw new NotRegistered('used');
  // Locks the mailbox, also if it is known: two tokens of one address wait for each other here.
  const [known] = (yield sql`${insertInto('registrations', { mailbox, person: person.id, account: account.id, at })}
    ON CONFLICT (mailbox) DO UPDATE SET at = registrations.at RETURNING person`) as { person: string }[];
  const taken = yield sql`SELECT id FROM people WHERE email = ${person.email}`;
  if (taken.length > 0) throw new NotRegistered('taken');
  const credit = known?.person === person.id ? given.credit : 0n;
  yield* count(given, credit);
  yield insertAccount(account);
  yield* insertPerson(person);
  for (const audit of audits) yield insertAudit(audit);
  return credit > 0n ? given.steps : [];
}

/** The row of the day is locked, so that registrations at the same time cannot pass its limits together. */
function* count({ at, most }: NewRegistration, credit: bigint): Steps<void> {
  const day = Math.floor(at / DAY_MS);
  const counted = yield sql`${insertInto('registration_days', { day, people: 1, credit })}
    ON CONFLICT (day) DO UPDATE SET people = registration_days.people + 1, credit = registration_days.credit + excluded.credit
    WHERE registration_days.people < ${most.people} AND registration_days.credit + excluded.credit <= ${most.credit} RETURNING day`;
  if (counted.length === 0 || credit > most.credit || most.people < 1) throw new NotRegistered('exhausted');
}

/** What became of a transaction. */
export async function outcomeOf(work: Promise<unknown>): Promise<RegistrationOutcome> {
  try {
    await work;
    return 'registered';
  } catch (thrown) {
    if (thrown instanceof NotRegistered) return thrown.outcome;
    throw thrown;
  }
}
