/** Maps a provider's task states and errors to ours. */
import type { Json } from '../../canonical/json.ts';
import type { TaskError, TaskState } from '../../canonical/task.ts';

/** An unknown status means that the task is still running. */
export function stateOf(words: { readonly [word: string]: TaskState }, word: Json | undefined): TaskState {
  return words[String(word)] ?? 'in_progress';
}

/** Maps a provider's statuses to task states. */
export function statesFrom(states: Record<TaskState, readonly string[]>): { readonly [word: string]: TaskState } {
  const pairs = Object.entries(states).flatMap(([state, words]) => words.map((word) => [word, state]));
  return Object.fromEntries(pairs);
}

export function failure(code: Json | undefined, message: Json | undefined): TaskError {
  return {
    code: typeof code === 'string' && code !== '' ? code : 'generation_failed',
    message: typeof message === 'string' && message !== '' ? message : 'The model could not make the video.',
  };
}
