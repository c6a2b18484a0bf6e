/** Targets of video tasks: a model's target with the provider's video adapter. */
import { createHash } from 'node:crypto';
import { GatewayError } from '../canonical/errors.ts';
import { type AttemptedWith, textWithoutSecrets, withoutSecrets } from '../canonical/redaction.ts';
import type { TaskProgress } from '../canonical/task.ts';
import type { ModelTarget } from '../catalog/catalog.ts';
import type { Target } from '../providers/outgoing.ts';
import type { Provider } from '../providers/provider.ts';
import type { Started, VideoAdapter } from '../providers/video/video.ts';
import type { Task, TaskTarget } from './task.ts';
import type { TaskDeps } from './task-deps.ts';

/** A target that can generate videos. */
export interface VideoTarget {
  choice: ModelTarget;
  provider: Provider;
  video: VideoAdapter;
  target: Target;
}

export const REMOVED = { code: 'upstream_failed', message: 'The provider is no longer configured.' } as const;

/** The task's own target, or `undefined` if it is no longer configured. */
export function videoTargetOf(deps: TaskDeps, { ask, target }: Task): VideoTarget | undefined {
  const model = deps.catalog.find(ask.model);
  const choice = model?.targets.find((one) => one.provider === target?.provider && one.model === target.model);
  return choice && videoTargetAt(deps, choice, target?.key);
}

/** Whether this process knows the task's model, and its target if it has one. */
export const isConfigured = (deps: TaskDeps, task: Task): boolean =>
  task.target ? videoTargetOf(deps, task) !== undefined : deps.catalog.find(task.ask.model) !== undefined;

/** With the credential that `key` identifies, if it still exists; otherwise with `given`, or the next one. */
export function videoTargetAt(
  deps: TaskDeps,
  choice: ModelTarget,
  key?: string,
  given?: string,
): VideoTarget | undefined {
  const provider = deps.provider(choice.type);
  const baseUrl = choice.baseUrl ?? provider?.baseUrl;
  if (!provider?.video || baseUrl === undefined) return undefined;
  const own = key === undefined ? undefined : choice.credentials.find((one) => digestOf(one) === key);
  const target: Target = {
    model: choice.model,
    baseUrl,
    credential: own ?? given ?? deps.catalog.credential(choice),
    settings: choice.settings,
  };
  const usual = provider.baseUrl;
  const addresses = baseUrl === usual ? [undefined, usual] : [baseUrl, usual];
  const { credentials, settings } = choice;
  return { choice, provider, video: withoutOurs(provider.video, { credentials, settings, addresses }), target };
}

/** The provider's adapter, with the operator's secrets removed from its errors. */
function withoutOurs(video: VideoAdapter, attempted: AttemptedWith): VideoAdapter {
  const guarded = <T>(read: () => T): T => {
    try {
      return read();
    } catch (thrown) {
      throw thrown instanceof GatewayError ? withoutSecrets(thrown, attempted) : thrown;
    }
  };
  const seen = (progress: TaskProgress): TaskProgress => {
    const { error } = progress;
    if (!error) return progress;
    const { code, message } = error;
    const shown = { code: textWithoutSecrets(code, attempted), message: textWithoutSecrets(message, attempted) };
    return { ...progress, error: shown };
  };
  const started = (one: Started): Started => ({ ...one, seen: seen(one.seen) });
  const { find } = video;
  return {
    ...video,
    readStart: (answered, ask) => started(guarded(() => video.readStart(answered, ask))),
    readPoll: (answered, handle, target) => seen(guarded(() => video.readPoll(answered, handle, target))),
    ...(find && {
      find: {
        ask: (id, target, ask) => find.ask(id, target, ask),
        read(answered, ask) {
          const one = guarded(() => find.read(answered, ask));
          return one && started(one);
        },
      },
    }),
  };
}

/** What a task stores to find its target again. A provider knows a task only by the credential that started it, so that is stored too. */
export function nameOf({ choice: { provider, model, credentials }, target: { credential } }: VideoTarget): TaskTarget {
  const several = credentials.length > 1 && credential !== undefined;
  return { provider, model, ...(several && { key: digestOf(credential) }) };
}

const DIGEST_LENGTH = 16;

function digestOf(credential: string): string {
  return createHash('sha256').update(credential).digest('hex').slice(0, DIGEST_LENGTH);
}
