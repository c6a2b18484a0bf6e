import { expect, test } from 'bun:test';
import { spellingOf } from './spelling.ts';

test.each([
  ['/metrics', ['/metrics'], ['/%6detrics', '/metric%73']],
  ['/v1/models/:name{.+}', ['/v1/models/a%2Fb', '/v1/models/a/b'], ['/v1/%6dodels/a']],
  ['/v1/engines/:model{.+}/embeddings', ['/v1/engines/a%20b/embeddings'], ['/v1/engines/a/embedding%73']],
  [
    '/admin/v1/keys/:id/rotate',
    ['/admin/v1/keys/a%2Db/rotate'],
    ['/%61dmin/v1/keys/a/rotate', '/admin/v1/keys/a%2Frotate'],
  ],
])('%s', (pattern, right, wrong) => {
  const isSpelled = spellingOf(pattern);
  expect(right.filter(isSpelled)).toEqual(right);
  expect(wrong.filter(isSpelled)).toEqual([]);
});
