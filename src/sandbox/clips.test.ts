import { expect, test } from 'bun:test';
import { createVideoReader } from '../canonical/video-facts.ts';
import rows from './clips.json' with { type: 'json' };
import { nearestClip } from './clips.ts';

test.each([
  ['16:9', { width: 1280, height: 720, seconds: 4 }, { width: 160, height: 96, seconds: 4 }],
  ['9:16', { width: 720, height: 1280, seconds: 8 }, { width: 96, height: 160, seconds: 8 }],
  ['a square', { width: 1024, height: 1024, seconds: 12 }, { width: 128, height: 128, seconds: 12 }],
  ['nearly a square', { width: 110, height: 100, seconds: 2 }, { width: 128, height: 128, seconds: 2 }],
  ['between two lengths', { width: 128, height: 96, seconds: 3 }, { width: 160, height: 96, seconds: 4 }],
  ['shorter than all', { width: 160, height: 96, seconds: 0.5 }, { width: 160, height: 96, seconds: 2 }],
  ['longer than all', { width: 160, height: 96, seconds: 60 }, { width: 160, height: 96, seconds: 12 }],
])('%s is answered by the nearest clip', (_, requested, clip) => {
  expect(nearestClip(requested)).toMatchObject(clip);
});

test.each(rows.map((clip) => [`${clip.width}x${clip.height}, ${clip.seconds} s`, clip] as const))(
  '%s: the file matches its row, and is small',
  (_, { base64, ...facts }) => {
    const bytes = Buffer.from(base64, 'base64');
    const reader = createVideoReader();
    reader.see(bytes);
    expect(reader.facts()).toEqual({ ...facts, fps: 4 });
    expect(bytes.toString('latin1', 4, 8)).toBe('ftyp');
    expect(bytes.length).toBeLessThan(6000);
  },
);
