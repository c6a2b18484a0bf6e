/** Work that outlives its request: what was asked, how far it has come, and the one rule by which it changes. */

import type { Json, JsonObject } from './json.ts';
import type { VideoFacts } from './video-facts.ts';

/** What a client asked for, free of any wire format. */
export interface VideoAsk {
  /** The public model name. */
  model: string;
  prompt?: string;
  negativePrompt?: string;
  images: Image[];
  /** Length of each video. */
  seconds?: number;
  width?: number;
  height?: number;
  /** `16:9` */
  aspectRatio?: string;
  /** `720p` */
  resolution?: string;
  fps?: number;
  /** How well it is made, in the words of prices (`pro+sound`), where its provider has several ways. */
  quality?: string;
  seed?: number;
  /** Videos asked for. */
  n: number;
  user?: string;
  /** Members in the provider's own words, and the form fields nobody knows. */
  metadata: JsonObject;
  /** What of them was left out because money hangs on it and it is said elsewhere: a sentence each. */
  dropped?: string[];
  /** Whose words those are, where the client's format is a provider's own: told to that provider alone. */
  words?: string;
  /** A task of ours whose video is to be made anew. */
  remixOf?: string;
  /** Where to tell the end. */
  webhook?: string;
}

/** What an image is for. */
export interface Image {
  role: 'first' | 'last' | 'reference';
  source: { type: 'inline'; base64: string; mimeType?: string } | { type: 'url'; url: string };
}

/** Only ever forward; the last two are ends. */
export type TaskState = 'queued' | 'in_progress' | 'completed' | 'failed';

export interface TaskError {
  code: string;
  /** Public. */
  message: string;
}

/** One result, kept by us. */
export interface TaskOutput {
  /** Unguessable: who knows it may fetch it. */
  file: string;
  mimeType: string;
  bytes: number;
  /** What the file says of itself, where it can be read. */
  video?: VideoFacts;
}

/** What the provider says of its work at one moment. */
export interface Progress {
  state: TaskState;
  /** 0 to 100, where the provider says. */
  percent?: number;
  /** Where the results are: only where `completed`. */
  found?: FoundOutput[];
  error?: TaskError;
  /** What the provider bills, where it says. */
  billed?: { seconds?: number; outputTokens?: number };
  /** What to ask with from now on, where it changes. */
  handle?: Json;
}

/** An address for everybody (`signed`: asked with the provider's credential where it is the provider's own), or the video itself. */
export type FoundOutput = { mimeType?: string } & ({ url: string; signed?: true } | { base64: string });

/** The part of a task that changes as it goes on. */
export interface TaskCourse {
  state: TaskState;
  /** 0 to 100; never falls; 100 only where `completed`. */
  percent: number;
  error?: TaskError;
  startedAt?: number;
  /** When it came to either end. */
  endedAt?: number;
}

/** What is left for the gateway itself to do once the provider is done. */
const ALMOST = 99;

/**
 * The only way a task changes: never backwards, never after its end. A completion is not for the provider to say: it is reached by `end`,
 * once the results are kept and paid for.
 */
export function advance<T extends TaskCourse>(task: T, seen: Progress, now: number): T {
  if (isOver(task)) return task;
  if (seen.state === 'failed') return end(task, { error: seen.error ?? UNKNOWN_FAILURE }, now);
  const begun = task.state === 'in_progress' || seen.state !== 'queued';
  const said = seen.state === 'completed' ? ALMOST : Math.min(ALMOST, Math.max(0, Math.floor(seen.percent ?? 0)));
  return {
    ...task,
    state: begun ? 'in_progress' : 'queued',
    percent: Math.max(task.percent, begun ? said : 0),
    ...(begun && { startedAt: task.startedAt ?? now }),
  };
}

/** Brings a task to its end, once. */
export function end<T extends TaskCourse>(task: T, how: { error: TaskError } | 'completed', now: number): T {
  if (isOver(task)) return task;
  if (how === 'completed')
    return { ...task, state: 'completed', percent: 100, startedAt: task.startedAt ?? now, endedAt: now };
  return { ...task, state: 'failed', error: how.error, endedAt: now };
}

export function isOver({ state }: Pick<TaskCourse, 'state'>): boolean {
  return state === 'completed' || state === 'failed';
}

const UNKNOWN_FAILURE: TaskError = { code: 'generation_failed', message: 'The model could not make the video.' };
