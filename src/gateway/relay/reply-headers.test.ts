import { describe, expect, test } from 'bun:test';
import { warningsHeader } from './relay-reply.ts';

describe('x-modelport-warnings', () => {
  test('joins the sentences', () => {
    expect(warningsHeader(['`a` was dropped.', '`b` was dropped.'])).toBe('`a` was dropped. `b` was dropped.');
  });

  test('has a plain apostrophe for a typographic one', () => {
    expect(warningsHeader(['The model’s maximum.'])).toBe("The model's maximum.");
  });

  test('is printable ASCII of limited length: nothing in it ends the header', () => {
    const value = warningsHeader([`\`é\r\nset-cookie: x\``, 'x'.repeat(10_000)]);
    expect(value).toStartWith('`???set-cookie: x`');
    expect(value).toMatch(/^[\x20-\x7e]{4000}$/);
  });
});
