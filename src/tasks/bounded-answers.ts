/**
 * Checks what a provider reports of a video before it is stored: it is stored, shown to clients, and put into the URLs of later polls. A
 * report that exceeds a limit becomes `upstream_failed`.
 */
import { GatewayError } from '../canonical/errors.ts';
import type { Json } from '../canonical/json.ts';
import type { TaskError, TaskProgress } from '../canonical/task.ts';
import type { Started } from '../providers/video/video.ts';

/** The maximum length of the provider's task id. The longest known are paths of about 200 characters. */
const LONGEST_HANDLE = 4096;
const LONGEST_CODE = 200;
const LONGEST_MESSAGE = 2000;
/** The maximum of videos of one task: each is fetched and stored. */
const MOST_VIDEOS = 32;

/** Checks the start of a task. The task has been started whatever the provider reports, so no other provider is tried. */
export function boundedStart({ handle, seen }: Started): Started {
  return { handle: boundedHandle(handle, { inDoubt: true }), seen: boundedProgress(seen) };
}

/** Checks a poll of a task. Throws `upstream_failed` if the provider reports more than can be true. */
export function boundedProgress({ percent, error, handle, ...seen }: TaskProgress): TaskProgress {
  if ((seen.found?.length ?? 0) > MOST_VIDEOS) throw outOfBounds('more videos than can be requested', {});
  return {
    ...seen,
    ...(percent !== undefined && !Number.isNaN(percent) && { percent }),
    ...(error && { error: boundedError(error) }),
    ...(handle !== undefined && { handle: boundedHandle(handle, {}) }),
  };
}

function boundedHandle(handle: Json, how: { inDoubt?: boolean }): Json {
  // An unpaired surrogate cannot be written into a URL.
  const isSayable = textsIn(handle).every((text) => text.isWellFormed());
  if (!isSayable || JSON.stringify(handle).length > LONGEST_HANDLE) throw outOfBounds('the id of the task', how);
  return handle;
}

function textsIn(value: Json): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

function boundedError({ code, message }: TaskError): TaskError {
  return { code: code.slice(0, LONGEST_CODE), message: message.slice(0, LONGEST_MESSAGE) };
}

function outOfBounds(what: string, how: { inDoubt?: boolean }): GatewayError {
  return new GatewayError('upstream_failed', `The provider sent an answer that breaks its format: ${what}.`, how);
}
