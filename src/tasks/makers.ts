/** Where tasks are made: a model's target, with the vendor's own way to make videos. */
import type { TaskError } from '../canonical/task.ts';
import type { ModelTarget } from '../catalog/catalog.ts';
import type { Provider, Target } from '../providers/provider.ts';
import type { VideoAdapter } from '../providers/video.ts';
import type { TaskRooms } from './rooms.ts';
import type { Task } from './task.ts';

/** A place where a task is made. */
export interface Maker {
  choice: ModelTarget;
  provider: Provider;
  video: VideoAdapter;
  target: Target;
}

export const REMOVED: TaskError = { code: 'upstream_failed', message: "The model's vendor is no longer configured." };

/** The task's own maker; `undefined` where it is configured no more. */
export function makerOf(rooms: TaskRooms, { ask, target }: Task): Maker | undefined {
  const model = rooms.catalog.find(ask.model);
  const choice = model?.targets.find((one) => one.provider === target?.provider && one.model === target.model);
  return choice && makerAt(rooms, choice);
}

export function makerAt(rooms: TaskRooms, choice: ModelTarget): Maker | undefined {
  const provider = rooms.provider(choice.type);
  const baseUrl = choice.baseUrl ?? provider?.baseUrl;
  if (!provider?.video || baseUrl === undefined) return undefined;
  const target: Target = {
    model: choice.model,
    baseUrl,
    credential: rooms.catalog.credential(choice),
    settings: choice.settings,
  };
  return { choice, provider, video: provider.video, target };
}
