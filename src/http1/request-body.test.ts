import { expect, test } from 'bun:test';
import { RequestBody } from './client-request.ts';

test.each([
  ['bytes', 4, 64 * 1024],
  ['pieces', 4096, 1],
])(
  'its source is paused while many %s wait, and resumes when they are read or discarded',
  async (_what, pieces, size) => {
    for (const isWanted of [true, false]) {
      const log: string[] = [];
      const body = new RequestBody(undefined, {
        wanted: () => void log.push('wanted'),
        pause: () => void log.push('pause'),
        resume: () => void log.push('resume'),
      });
      const piece = Buffer.alloc(size, 'x');
      for (let n = 1; n < pieces; n++) body.push(piece);
      expect(log).toEqual([]);
      body.push(piece);
      body.push(piece);
      expect(log).toEqual(['pause']);
      if (isWanted) expect((await body.read())?.length).toBe((pieces + 1) * size);
      else body.discard();
      expect(log).toEqual(['pause', 'resume']);
    }
  },
);
