/** Self-registration: an address, a link by mail, and with it a person, an account and starting credit. */

import { auditOfEntry, auditRow } from '../access/audit.ts';
import { GatewayError } from '../canonical/errors.ts';
import { newId, newTimedId } from '../canonical/id.ts';
import type { Money } from '../canonical/money.ts';
import { DAY_MS, HOUR_MS } from '../canonical/time.ts';
import { registrationCredit } from '../ledger/starting-credit.ts';
import type { PersonRow } from '../store/people.ts';
import type { AccountRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';
import type { SendMail } from '../transport/send-mail.ts';
import { isOfDomain, mailAddressOf, mailboxOf } from './mailbox.ts';
import type { Passwords } from './passwords.ts';
import { confirmationMail, knownMail, type MailLanguage } from './registration-mail.ts';
import { hashSecret, newSecret } from './secrets.ts';
import { signInFailed } from './sign-in-failed.ts';
import { networkOf } from './throttle.ts';

export interface RegistrationSettings {
  /** Of each new account. */
  credit: Money;
  /** Of a UTC day: people who register, and the money that they get together. */
  daily: { people: number; credit: Money };
  /** Domains of addresses that may register. Empty: all. */
  domains: readonly string[];
  /** Of the console, for links in mails. */
  publicUrl: string;
}

export interface Registration {
  readonly credit: Money;
  /** Whether there is a channel of alerts that sends mail. */
  isOpen(): Promise<boolean>;
  /**
   * Sends a mail to the address, known or not: neither the response nor its time reveals which.
   * Throws `not_found`, `invalid_request`, `rate_limited`.
   */
  ask(written: string, language: MailLanguage, from: string): Promise<void>;
  /** Makes the person. Throws `sign_in_failed`, `rate_limited`. */
  confirm(token: string, chosen: { name: string; password: string }): Promise<PersonRow>;
}

export interface RegistrationDeps {
  store: Store;
  passwords: Passwords;
  sendMail: SendMail;
  now(): number;
  reportError(sentence: string, cause: unknown): void;
}

const KIND = 'registration';
/** Stored for an address that is known, so that both cases take the same steps. Nothing opens it. */
const KNOWN_KIND = 'registration-known';
const ACTOR = 'registration';
const LINK_HOURS = 48;
/** Mails to one mailbox and from one client's network in an hour, and of all in a day. */
const MOST_TO_ONE = 3;
const MOST_FROM_ONE = 20;
const MOST_OF_DAY = 1000;
/** Uses of one link in an hour: each hashes a password, and hashes are made a few at a time for everybody. */
const MOST_OF_LINK = 5;
/** Mails that are being sent at the same time. */
const AT_ONCE = 20;
const MAIL_MS = 15_000;

export function createRegistration(settings: RegistrationSettings, deps: RegistrationDeps): Registration {
  const { store, now } = deps;
  /** A stop does not wait for mails: people without one request it again. */
  const never = new AbortController().signal;
  let sending = 0;

  /** The mail server of the alerts: the first channel that sends mail. */
  async function server() {
    const channels = await store.alerts.channels();
    const found = channels.find(
      ({ type, enabled, unreadable, settings: { from } }) =>
        type === 'email' && enabled && unreadable === undefined && from,
    );
    return found && { url: found.secrets.url, from: found.settings.from ?? '' };
  }

  async function count(subject: string, most: number, of: 'hour' | 'day'): Promise<void> {
    const length = of === 'hour' ? HOUR_MS : DAY_MS;
    const start = now() - (now() % length);
    const counted = `register ${subject} ${start}`;
    // Counted first: requests at the same time cannot pass together.
    await store.people.addFailures([counted], now(), start - 1);
    const { count: times = 0 } = (await store.people.failures([counted], start - 1)).get(counted) ?? {};
    if (times > most) throw tooMany(start + length - now(), 'There were too many registrations.');
  }

  function send(mail: { to: string; from: string; url: string; id: string; subject: string; text: string }): void {
    const { to, from, url, id, subject, text } = mail;
    sending++;
    deps
      .sendMail(url, { messageId: `<${id}@modelport>`, from, to: [to], subject, text }, MAIL_MS, never)
      .catch((thrown) => deps.reportError('The mail of a registration was not sent.', thrown))
      .finally(() => sending--);
  }

  return {
    credit: settings.credit,
    isOpen: async () => (await server()) !== undefined,
    async ask(written, language, from) {
      const mailServer = await server();
      if (!mailServer)
        throw new GatewayError('not_found', 'Registration is not open: no channel of alerts sends e-mail.');
      const email = mailAddressOf(written);
      if (email === undefined) throw wrongEmail('must be an e-mail address');
      if (!isOfDomain(email, settings.domains))
        throw wrongEmail(`must be an address of ${settings.domains.join(' or ')}`);
      if (sending >= AT_ONCE) throw tooMany(MAIL_MS, 'Too many people are registering.');
      await count(`from ${networkOf(from)}`, MOST_FROM_ONE, 'hour');
      await count(`to ${hashSecret(mailboxOf(email))}`, MOST_TO_ONE, 'hour');
      await count('all', MOST_OF_DAY, 'day');
      const isKnown = (await store.people.personByEmail(email)) !== undefined;
      const { text: token, hash } = newSecret();
      const at = now();
      const id = newTimedId('reg_', at);
      const times = { createdAt: at, expiresAt: at + LINK_HOURS * HOUR_MS };
      await store.people.putToken({ id, kind: isKnown ? KNOWN_KIND : KIND, hash, body: email, ...times });
      const { host } = new URL(settings.publicUrl);
      const page = `${settings.publicUrl}/console/`;
      const mail = isKnown
        ? knownMail(host, page, language)
        : confirmationMail(host, `${page}#register=${token}`, LINK_HOURS, language);
      send({ to: email, ...mailServer, id, ...mail });
    },
    async confirm(written, { name, password }) {
      const hash = hashSecret(written);
      const token = await store.people.token(KIND, hash, now());
      if (!token || !isOfDomain(token.body, settings.domains)) throw signInFailed();
      await count(`by ${hash}`, MOST_OF_LINK, 'hour');
      // Only now, by the owner of the mailbox: a password given with the request could be somebody else's.
      const passwordHash = await deps.passwords.hash(password);
      const at = now();
      const email = token.body;
      const account = await newAccount(store, email, at);
      const id = newTimedId('person_', at);
      const person = { id, name, role: 'member', accounts: [account.id], createdAt: at, email, passwordHash };
      const audited = (action: string, subject: string, after: object) =>
        auditRow({ actor: ACTOR, action, subject, after }, at);
      const outcome = await store.register({
        ...{ token: { kind: KIND, hash }, person, account, mailbox: hashSecret(mailboxOf(email)), at },
        ...{ credit: settings.credit, most: settings.daily },
        steps: [
          registrationCredit(account.id, settings.credit, at, {
            idempotencyKey: `registration:${id}`,
            audit: auditOfEntry({ actor: ACTOR, action: 'account.topped-up', subject: account.id }, at),
          }),
        ],
        audits: [audited('account.created', account.id, account), audited('person.created', id, person)],
      });
      if (outcome === 'exhausted')
        throw tooMany(DAY_MS - (at % DAY_MS), 'No more accounts can be opened today: open the link again tomorrow.');
      if (outcome !== 'registered') throw signInFailed();
      return person;
    },
  };
}

/** Named after the address; an operator may have an account of that name. */
async function newAccount(store: Pick<Store, 'account'>, email: string, createdAt: number): Promise<AccountRow> {
  const id = newId('acct_');
  const name = (await store.account(email)) ? `${email} ${id.slice(-6)}` : email;
  return { id, name, balance: 0n, held: 0n, createdAt };
}

const wrongEmail = (why: string) => new GatewayError('invalid_request', `"email" ${why}.`, { param: 'email' });

function tooMany(waitMs: number, sentence: string): GatewayError {
  return new GatewayError('rate_limited', sentence, { retryAfterSeconds: Math.ceil(waitMs / 1000) });
}
