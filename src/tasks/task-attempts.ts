/** Attempts to start a task: stored with it, because another process may write its receipt. */
import { GatewayError } from '../canonical/errors.ts';
import type { AttemptRecord } from '../routing/tracked-attempt.ts';
import { CallTrace, type Events } from '../telemetry/events.ts';
import { maskedCredential } from '../telemetry/receipt.ts';
import type { Held } from './held-task.ts';
import type { Task } from './task.ts';
import type { TaskDeps } from './task-deps.ts';
import type { VideoTarget } from './video-targets.ts';

/** The last ones explain how it ended. */
const MOST_KEPT = 32;

/** The members of a task that its events need. */
export type TracedTask = Pick<
  Task,
  'id' | 'createdAt' | 'format' | 'account' | 'key' | 'held' | 'tried' | 'warnings' | 'labels' | 'parent'
> & { ask: Pick<Task['ask'], 'model'> };

/** The task as the sinks of events see it. */
export function traceOf(events: Events, task: TracedTask): CallTrace {
  const { id, createdAt, format, account, key, ask, held, tried, warnings, labels, parent } = task;
  const trace = new CallTrace(events, id, createdAt, format);
  trace.sentBy({ account, key });
  trace.model = ask.model;
  trace.hold = held;
  if (tried) trace.attempts = tried;
  if (warnings) trace.warnings = warnings;
  if (labels) trace.labels = labels;
  if (parent) trace.headers = { get: (name) => parent[name] };
  return trace;
}

/** A request to start the task is about to be sent, with these headers. */
export function attemptBegins(
  deps: TaskDeps,
  held: Held,
  { choice, target }: VideoTarget,
  headers: { [name: string]: string },
): void {
  attemptEnds(deps, held, 0, new GatewayError('upstream_failed', 'The gateway ended before the provider answered.'));
  const { id, provider, type, model } = choice;
  const attempt: AttemptRecord = {
    target: { id, provider, type, model },
    credential: maskedCredential(target.credential),
    startedAt: deps.now(),
    answeredAt: 0,
    endedAt: 0,
    status: 0,
    outcome: 'running',
    errorCode: undefined,
    message: undefined,
  };
  const { tried = [] } = held.task;
  held.task = { ...held.task, tried: [...tried, attempt].slice(-MOST_KEPT) };
  const trace = traceOf(deps.events, held.task);
  deps.events.attemptStarted(trace, attempt);
  deps.events.taskAttempted(trace);
  trace.span?.propagate(attempt, headers);
}

/** The provider has accepted the task, or the attempt failed. `status`: of the response; 0: none came. */
export function attemptEnds(deps: TaskDeps, held: Held, status: number, error?: GatewayError): void {
  const { tried = [] } = held.task;
  const running = tried.at(-1);
  if (running?.outcome !== 'running') return;
  const now = deps.now();
  const ended: AttemptRecord = {
    ...running,
    answeredAt: status > 0 ? now : 0,
    endedAt: now,
    status,
    outcome: error ? 'failed' : 'ok',
    errorCode: error?.code,
    message: error?.message,
  };
  held.task = { ...held.task, tried: [...tried.slice(0, -1), ended] };
  deps.events.attemptEnded(traceOf(deps.events, held.task), ended);
}
