/**
 * The gate between what a provider says of a video and the task that is kept: what it says is stored, shown, and put into addresses at every poll.
 * What breaks a bound is an `upstream_failed`.
 */
import { GatewayError } from '../canonical/errors.ts';
import type { Json } from '../canonical/json.ts';
import type { Progress, TaskError } from '../canonical/task.ts';
import type { Started } from '../providers/video/video.ts';

/** Characters of the id by which the provider knows a task. The longest known are paths of some 200. */
const LONGEST_HANDLE = 4096;
const LONGEST_CODE = 200;
const LONGEST_MESSAGE = 2000;
/** Videos of one task, whatever was asked for: each is fetched and kept. */
const MOST_VIDEOS = 32;

/** A start as it may be kept. It has been made, whatever was said of it: nobody else is asked. */
export function boundedStart({ handle, seen }: Started): Started {
  return { handle: boundedHandle(handle, { inDoubt: true }), seen: boundedProgress(seen) };
}

export function boundedProgress({ percent, error, handle, ...seen }: Progress): Progress {
  if ((seen.found?.length ?? 0) > MOST_VIDEOS) throw outOfBounds('more videos than anybody asks for', {});
  return {
    ...seen,
    ...(percent !== undefined && !Number.isNaN(percent) && { percent }),
    ...(error && { error: boundedError(error) }),
    ...(handle !== undefined && { handle: boundedHandle(handle, {}) }),
  };
}

function boundedHandle(handle: Json, how: { inDoubt?: boolean }): Json {
  // Half a character cannot be written into an address.
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
