/** A video task as stored between its steps. */

import type { Json, JsonObject } from '../canonical/json.ts';
import type { Money } from '../canonical/money.ts';
import type { TaskCourse, TaskImage, TaskOutput, VideoCall } from '../canonical/task.ts';
import type { Usage } from '../canonical/usage.ts';
import type { AttemptRecord } from '../routing/tracked-attempt.ts';
import type { TaskRow } from '../store/tasks.ts';
import type { CallLabels } from '../telemetry/events.ts';

/** A task as stored. Amounts are nano-USD. */
export interface Task extends TaskCourse {
  id: string;
  account: string;
  key: string;
  /** Milliseconds since 1970. */
  createdAt: number;
  /** After this time the task fails. */
  deadlineAt: number;
  /** The API format in which it was created. */
  format: string;
  ask: Omit<VideoCall, 'images'>;
  priceId: string;
  /** The held amount in nano-USD. */
  held: Money;
  /** The target, once it is chosen. */
  target?: TaskTarget;
  /** A start was sent or is about to be; its result may be unknown. */
  sent?: true;
  /** What of the request the provider's format cannot express, one sentence each. */
  warnings?: string[];
  /** The client requires a complete translation: otherwise the request is refused. */
  strict?: true;
  /** The provider's id of the video that this one is a remix of. */
  source?: Json;
  /** The provider's id of the task. */
  handle?: Json;
  /** The number of polls, and of failed ones in a row. */
  looks: number;
  failures: number;
  attempts: number;
  /** The attempts to start it, for its receipt. Their credentials are masked. */
  tried?: readonly AttemptRecord[];
  /** Metadata of the request. */
  labels?: CallLabels;
  /** The trace that it belongs to: headers of its request. */
  parent?: { readonly [header: string]: string };
  /** Names of its stored results, saved before the first download. */
  files?: string[];
  /** The number of download attempts. */
  fetches?: number;
  outputs: TaskOutput[];
  /** Usage and cost: results are stored, and the charge comes next. */
  due?: { usage: Usage; cost: Money; disputed?: true };
  /** It has failed and its hold is released. */
  released?: true;
  /** When its files expire. */
  expiresAt?: number;
  /** Its files have been removed. */
  emptied?: true;
  /** A hash of the request, if it has an idempotency key: the same key must not be used for another request. */
  fingerprint?: string;
  /** Tasks of the other videos in the same order, if each has its own. */
  siblings?: string[];
  webhook?: { url: string; tries: number; told?: true };
}

/** Where the task was started. It is polled only there. */
export interface TaskTarget {
  provider: string;
  model: string;
  /** If the target has several credentials: a digest of the one that started the task. */
  key?: string;
}

/** The request, stored until the task has been started. */
export interface TaskRequest {
  images: TaskImage[];
}

/** An output as stored: earlier versions named the facts of a video `film`. */
type KeptOutput = TaskOutput & { film?: TaskOutput['video'] };

/** The request of a task that was not started yet. Earlier versions named its images `pictures`. */
export function readTaskRequest(text: string | undefined): TaskRequest {
  const { images, pictures } = JSON.parse(text ?? '{}') as { images?: TaskImage[]; pictures?: TaskImage[] };
  return { images: images ?? pictures ?? [] };
}

/** Amounts are text in JSON. The format is stored as `door`: older gateways read that name while others are upgraded. */
export function writeBody({ format, ...task }: Task): string {
  const stored = { ...task, door: format };
  return JSON.stringify(stored, (_name, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));
}

/** Reads what `writeBody` wrote, also of earlier versions. */
export function readTask({ body }: TaskRow): Task {
  const { door, ...task } = JSON.parse(body) as JsonObject & {
    door: string;
    held: string;
    due?: { usage: Usage; cost: string };
    outputs: KeptOutput[];
  };
  return {
    ...task,
    format: door,
    outputs: task.outputs.map(({ film, ...output }) => ({ ...(film && { video: film }), ...output })),
    held: readAmount(task.held),
    ...(task.due && { due: { ...task.due, cost: readAmount(task.due.cost) } }),
  } as unknown as Task;
}

function readAmount(text: string): Money {
  return BigInt(text.slice(0, -1));
}
