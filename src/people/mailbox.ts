/** E-mail addresses of people who register themselves. Pure functions. */

/** As browsers check it (HTML, section "E-mail state"), without quotes and comments: one address has one spelling, and no mail program reads it as several. */
const ADDRESS =
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+$/;
const LONGEST = 254;
const GMAIL = new Set(['gmail.com', 'googlemail.com']);

/** The address in lower case. `undefined`: it is none. */
export function mailAddressOf(written: string): string | undefined {
  const address = written.trim().toLowerCase();
  return address.length <= LONGEST && ADDRESS.test(address) ? address : undefined;
}

/** The mailbox that the address leads to: what follows `+` is the person's own choice, and Gmail ignores dots. */
export function mailboxOf(address: string): string {
  const at = address.lastIndexOf('@');
  const local = address.slice(0, at).split('+')[0] ?? '';
  const domain = address.slice(at + 1);
  return GMAIL.has(domain) ? `${local.replaceAll('.', '')}@gmail.com` : `${local}@${domain}`;
}

export const isOfDomain = (address: string, domains: readonly string[]): boolean =>
  domains.length === 0 || domains.includes(address.slice(address.lastIndexOf('@') + 1));
