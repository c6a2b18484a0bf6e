/** A video task as it is kept between its steps. */

import type { Json, JsonObject } from '../canonical/json.ts';
import type { Money } from '../canonical/money.ts';
import type { Image, TaskCourse, TaskOutput, VideoAsk } from '../canonical/task.ts';
import type { Usage } from '../canonical/usage.ts';
import type { TaskRow } from '../store/tasks.ts';

export interface Task extends TaskCourse {
  id: string;
  account: string;
  key: string;
  /** Milliseconds since 1970. */
  createdAt: number;
  /** After this it is given up. */
  deadlineAt: number;
  /** The door it came in by. */
  door: string;
  ask: Omit<VideoAsk, 'images'>;
  priceId: string;
  /** Nano-USD set aside for it. */
  held: Money;
  /** Where it is made, once that is chosen. */
  target?: TaskTarget;
  /** A start is on its way or has been: whether it arrived may not be known. */
  sent?: true;
  /** What of the request its provider cannot be told, a sentence each. */
  warnings?: string[];
  /** Its client would rather have it refused than made with something left out. */
  strict?: true;
  /** What the provider knows the video by that this one is made of anew. */
  source?: Json;
  /** What the provider knows it by. */
  handle?: Json;
  /** Looks so far, and those in a row that failed. */
  looks: number;
  failures: number;
  attempts: number;
  /** Under which its results are kept, from before the first of them is. */
  files?: string[];
  /** How often they were tried to fetch. */
  fetches?: number;
  outputs: TaskOutput[];
  /** What it came to: its results are kept, and it is about to be paid for. */
  due?: { usage: Usage; cost: Money; disputed?: true };
  /** It has failed, and what was held for it is free again. */
  released?: true;
  /** Until when its files are kept. */
  expiresAt?: number;
  /** Its files are gone. */
  emptied?: true;
  /** Of the request, where it has an idempotency key: the same key may not ask for something else. */
  fingerprint?: string;
  /** The tasks of the other videos of the same order, where each has one of its own. */
  siblings?: string[];
  webhook?: { url: string; tries: number; told?: true };
}

export interface TaskTarget {
  provider: string;
  model: string;
  /** Where it has several credentials: the digest of the one that the task was started with. */
  key?: string;
}

/** What is kept until the task has been started. */
export interface TaskRequest {
  images: Image[];
}

/** An output as it may be kept: earlier versions called the facts of a video `film`. */
type KeptOutput = TaskOutput & { film?: TaskOutput['video'] };

/** The request of a task that has not been started; earlier versions called its images `pictures`. */
export function readTaskRequest(text: string | undefined): TaskRequest {
  const { images, pictures } = JSON.parse(text ?? '{}') as { images?: Image[]; pictures?: Image[] };
  return { images: images ?? pictures ?? [] };
}

/** Amounts are texts in JSON. */
export function writeBody(task: Task): string {
  return JSON.stringify(task, (_name, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));
}

export function readTask({ body }: TaskRow): Task {
  const task = JSON.parse(body) as JsonObject & {
    held: string;
    due?: { usage: Usage; cost: string };
    outputs: KeptOutput[];
  };
  return {
    ...task,
    outputs: task.outputs.map(({ film, ...output }) => ({ ...(film && { video: film }), ...output })),
    held: readAmount(task.held),
    ...(task.due && { due: { ...task.due, cost: readAmount(task.due.cost) } }),
  } as unknown as Task;
}

function readAmount(text: string): Money {
  return BigInt(text.slice(0, -1));
}
