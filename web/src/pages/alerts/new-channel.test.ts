import { expect, test } from 'bun:test';
import { channelOf } from './new-channel.tsx';

const fields = { name: 'ops', url: 'https://hooks.test/a', server: 'smtp://mail.test', from: 'a@b.test', to: '' };

test('a channel has the fields of its type', () => {
  expect(channelOf('slack', fields)).toEqual({ name: 'ops', type: 'slack', url: 'https://hooks.test/a' });
  const { url: _, ...email } = fields;
  expect(channelOf('email', { ...fields, to: 'x@b.test' })).toEqual({ ...email, type: 'email', to: ['x@b.test'] });
});

test('recipients are separated as people write them, and an empty one is none', () => {
  const to = (text: string) => (channelOf('email', { ...fields, to: text }) as { to: string[] }).to;
  for (const text of ['x@b.test, y@b.test,', 'x@b.test;y@b.test', ' x@b.test\ty@b.test ', 'x@b.test，y@b.test'])
    expect(to(text)).toEqual(['x@b.test', 'y@b.test']);
});
