/** Tasks as the store keeps them, those of earlier versions too. */
import { expect, test } from 'bun:test';
import type { TaskRow } from '../store/tasks.ts';
import { readTask, readTaskRequest } from './task.ts';

const row = (outputs: object[]): TaskRow => ({
  id: 'video_1',
  account: 'acct_1',
  createdAt: 1,
  body: JSON.stringify({ id: 'video_1', held: '5n', outputs }),
});

test('what a video says of itself is read under the name that earlier versions gave it, too', () => {
  const facts = { width: 640, height: 360 };
  const output = { file: 'f', mimeType: 'video/mp4', bytes: 1 };
  for (const name of ['film', 'video']) {
    expect(readTask(row([{ ...output, [name]: facts }]))).toMatchObject({
      held: 5n,
      outputs: [{ ...output, video: facts }],
    });
  }
  expect(readTask(row([output])).outputs as unknown).toEqual([output]);
});

test('so are the images of a request that waits to be started', () => {
  const image = { use: 'first', source: { type: 'url', url: 'https://images.invalid/a.png' } };
  for (const name of ['pictures', 'images'])
    expect(readTaskRequest(JSON.stringify({ [name]: [image] })).images as unknown).toEqual([image]);
  expect(readTaskRequest(undefined)).toEqual({ images: [] });
});
