/** Tasks as stored, including those of earlier versions. */
import { expect, test } from 'bun:test';
import type { TaskRow } from '../store/tasks.ts';
import { readTask, readTaskRequest, writeBody } from './task.ts';

const row = (outputs: object[]): TaskRow => ({
  id: 'video_1',
  account: 'acct_1',
  createdAt: 1,
  body: JSON.stringify({ id: 'video_1', door: 'openai-videos', held: '5n', outputs }),
});

test('facts of a video are read under the member name of earlier versions too', () => {
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

test('images of a request that waits to be started are read under the earlier name too', () => {
  const image = { use: 'first', source: { type: 'url', url: 'https://images.invalid/a.png' } };
  for (const name of ['pictures', 'images'])
    expect(readTaskRequest(JSON.stringify({ [name]: [image] })).images as unknown).toEqual([image]);
  expect(readTaskRequest(undefined)).toEqual({ images: [] });
});

test('the format is stored under the name that older gateways read', () => {
  const task = readTask(row([]));
  expect(task.format).toBe('openai-videos');
  expect(JSON.parse(writeBody(task))).toEqual({ id: 'video_1', door: 'openai-videos', held: '5n', outputs: [] });
});
