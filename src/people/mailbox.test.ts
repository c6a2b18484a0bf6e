import { expect, test } from 'bun:test';
import { isOfDomain, mailAddressOf, mailboxOf } from './mailbox.ts';

test('an address has one spelling, and none that a mail program may read as another address or as several', () => {
  expect(mailAddressOf(' Ann.B+x@Example.test ')).toBe('ann.b+x@example.test');
  const wrong = ['', 'ann', '@example.test', 'ann@', 'ann@localhost', 'a@b@example.test', 'ann@example.test.'];
  const tricks = [
    '<ann@example.test>',
    '"ann"@example.test',
    'ann(x)@example.test',
    'x,ann@example.test',
    'ann@exa mple.test',
  ];
  const more = [
    'ann@example.test\r\nbcc: eve@example.test',
    'ann@[127.0.0.1]',
    `${'a'.repeat(65)}@example.test`,
    'änn@example.test',
  ];
  for (const written of [...wrong, ...tricks, ...more]) expect(mailAddressOf(written)).toBeUndefined();
});

test('a mailbox has one name', () => {
  expect(mailboxOf('ann+1@example.test')).toBe('ann@example.test');
  expect(mailboxOf('a.n.n@example.test')).toBe('a.n.n@example.test');
  expect(mailboxOf('a.n.n+2@googlemail.com')).toBe('ann@gmail.com');
});

test('a domain is compared as a whole', () => {
  expect(isOfDomain('ann@example.test', [])).toBe(true);
  expect(isOfDomain('ann@example.test', ['example.test'])).toBe(true);
  expect(isOfDomain('ann@sub.example.test', ['example.test'])).toBe(false);
});
