import { expect, test } from 'bun:test';
import { createVideoReader } from '../canonical/video-facts.ts';
import { generateVideo } from './mp4.ts';

test('the longest video is generated in steps that let other requests run', async () => {
  let turns = 0;
  let isMade = false;
  const turn = () => {
    turns++;
    if (!isMade) setImmediate(turn);
  };
  setImmediate(turn);
  const video = await generateVideo({ prompt: 'A cat', width: 1280, height: 1280, seconds: 60 });
  isMade = true;
  // 80 frames.
  expect(turns).toBeGreaterThanOrEqual(8);
  const reader = createVideoReader();
  reader.see(video);
  expect(reader.facts()).toEqual({ width: 160, height: 160, seconds: 20, fps: 4 });
});
