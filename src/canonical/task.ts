/** Tasks that outlive their request: the request, the progress, and the function that changes it. */

import type { Json, JsonObject } from './json.ts';
import type { VideoFacts } from './video-facts.ts';

/** A video request, independent of any wire format. */
export interface VideoCall {
  /** The public model name. */
  model: string;
  prompt?: string;
  negativePrompt?: string;
  images: TaskImage[];
  /** The length of each video. */
  seconds?: number;
  width?: number;
  height?: number;
  /** `16:9` */
  aspectRatio?: string;
  /** `720p` */
  resolution?: string;
  fps?: number;
  /** The quality as named in prices (`pro+sound`), for providers with several. */
  quality?: string;
  seed?: number;
  /** The number of videos. */
  n: number;
  user?: string;
  /** Members in the provider's own format, and unknown form fields. */
  metadata: JsonObject;
  /** What was removed from them because it is billed and set elsewhere, one sentence each. */
  dropped?: string[];
  /** The provider whose format the client used: the members are sent to that provider only. */
  words?: string;
  /** The task whose video is to be remixed. */
  remixOf?: string;
  /** The URL to call at the end. */
  webhook?: string;
}

/** The use of an input image. */
export interface TaskImage {
  role: 'first' | 'last' | 'reference';
  source: { type: 'inline'; base64: string; mimeType?: string } | { type: 'url'; url: string };
}

/** States only advance; the last two are final. */
export type TaskState = 'queued' | 'in_progress' | 'completed' | 'failed';

export interface TaskError {
  code: string;
  /** Shown to the client. */
  message: string;
}

/** A stored result. */
export interface TaskOutput {
  /** The file's name. It cannot be guessed and gives access to the file. */
  file: string;
  mimeType: string;
  bytes: number;
  /** Data read from the file, if possible. */
  video?: VideoFacts;
}

/** The provider's report on a task at one time. */
export interface TaskProgress {
  state: TaskState;
  /** 0 to 100, if the provider reports it. */
  percent?: number;
  /** The results; only if `completed`. */
  found?: FoundOutput[];
  error?: TaskError;
  /** What the provider bills, if it reports it. */
  billed?: { seconds?: number; outputTokens?: number };
  /** The provider's new id for the task, if it changes. */
  handle?: Json;
}

/** A URL (`signed`: requested with the provider's credential if it is the provider's own URL), or the video itself. */
export type FoundOutput = { mimeType?: string } & ({ url: string; signed?: true } | { base64: string });

/** The state of a task. */
export interface TaskCourse {
  state: TaskState;
  /** 0 to 100. Never decreases; 100 only if `completed`. */
  percent: number;
  error?: TaskError;
  startedAt?: number;
  /** When it completed or failed. */
  endedAt?: number;
}

/** The remaining percent are the gateway's own work after the provider has finished. */
const ALMOST = 99;

/**
 * Updates a task from a report: never backwards, and never after its end. A report does not complete the task; `end` does, after the
 * results are stored and charged.
 */
export function advance<T extends TaskCourse>(task: T, seen: TaskProgress, now: number): T {
  if (isOver(task)) return task;
  if (seen.state === 'failed') return end(task, { error: seen.error ?? UNKNOWN_FAILURE }, now);
  const begun = task.state === 'in_progress' || seen.state !== 'queued';
  const reported = seen.state === 'completed' ? ALMOST : Math.min(ALMOST, Math.max(0, Math.floor(seen.percent ?? 0)));
  return {
    ...task,
    state: begun ? 'in_progress' : 'queued',
    percent: Math.max(task.percent, begun ? reported : 0),
    ...(begun && { startedAt: task.startedAt ?? now }),
  };
}

/** Completes or fails a task, once. */
export function end<T extends TaskCourse>(task: T, how: { error: TaskError } | 'completed', now: number): T {
  if (isOver(task)) return task;
  if (how === 'completed')
    return { ...task, state: 'completed', percent: 100, startedAt: task.startedAt ?? now, endedAt: now };
  return { ...task, state: 'failed', error: how.error, endedAt: now };
}

export function isOver({ state }: Pick<TaskCourse, 'state'>): boolean {
  return state === 'completed' || state === 'failed';
}

const UNKNOWN_FAILURE: TaskError = { code: 'generation_failed', message: 'The model could not generate the video.' };
