/** Where tasks are made: a model's target, with the vendor's own way to make videos. */
import { createHash } from 'node:crypto';
import type { ModelTarget } from '../catalog/catalog.ts';
import type { Provider, Target } from '../providers/provider.ts';
import type { VideoAdapter } from '../providers/video.ts';
import type { TaskRooms } from './rooms.ts';
import type { Task, TaskTarget } from './task.ts';

/** A place where a task is made. */
export interface Maker {
  choice: ModelTarget;
  provider: Provider;
  video: VideoAdapter;
  target: Target;
}

export const REMOVED = { code: 'upstream_failed', message: "The model's vendor is no longer configured." } as const;

/** The task's own maker; `undefined` where it is configured no more. */
export function makerOf(rooms: TaskRooms, { ask, target }: Task): Maker | undefined {
  const model = rooms.catalog.find(ask.model);
  const choice = model?.targets.find((one) => one.provider === target?.provider && one.model === target.model);
  return choice && makerAt(rooms, choice, target?.key);
}

/** With the credential that `key` tells of, where there still is such a one; else with `given`, or one whose turn it is. */
export function makerAt(rooms: TaskRooms, choice: ModelTarget, key?: string, given?: string): Maker | undefined {
  const provider = rooms.provider(choice.type);
  const baseUrl = choice.baseUrl ?? provider?.baseUrl;
  if (!provider?.video || baseUrl === undefined) return undefined;
  const own = key === undefined ? undefined : choice.credentials.find((one) => digestOf(one) === key);
  const target: Target = {
    model: choice.model,
    baseUrl,
    credential: own ?? given ?? rooms.catalog.credential(choice, rooms.now()),
    settings: choice.settings,
  };
  return { choice, provider, video: provider.video, target };
}

/** By what a task finds its maker again. A vendor knows a task by the key that it was started with: of several the one is noted. */
export function nameOf({ choice: { provider, model, credentials }, target: { credential } }: Maker): TaskTarget {
  const several = credentials.length > 1 && credential !== undefined;
  return { provider, model, ...(several && { key: digestOf(credential) }) };
}

const DIGEST_LENGTH = 16;

function digestOf(credential: string): string {
  return createHash('sha256').update(credential).digest('hex').slice(0, DIGEST_LENGTH);
}
