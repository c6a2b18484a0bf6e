/** Calls the client's webhook when a task has ended: signed by Standard Webhooks, retried, never at a private address. */
import { signed } from '../transport/webhook-signature.ts';
import type { Task } from './task.ts';
import type { TaskDeps } from './task-deps.ts';

type Webhook = NonNullable<Task['webhook']>;

/** With the delays between them, these attempts take about a day. */
const MOST_TRIES = 290;
const TIMEOUT_MS = 15_000;

/** The webhook's state after one attempt. */
export async function tellWebhook(deps: TaskDeps, task: Task, webhook: Webhook): Promise<Webhook> {
  const tries = webhook.tries + 1;
  try {
    const secret = await deps.store.tasks.webhookSecret(task.account);
    const body = JSON.stringify({
      type: `video.${task.state}`,
      timestamp: new Date(task.endedAt ?? task.createdAt).toISOString(),
      data: {
        id: task.id,
        object: 'video',
        model: task.ask.model,
        status: task.state,
        ...(task.error && { error: task.error }),
      },
    });
    const headers = signed(`msg_${task.id}`, Math.floor(deps.now() / 1000), body, secret);
    const status = await deps.guard.post(webhook.url, headers, body, AbortSignal.timeout(TIMEOUT_MS));
    if (status >= 200 && status < 300) return { ...webhook, tries, told: true };
    deps.reportError(`The webhook of the task ${task.id} answered with status ${status}.`, undefined);
  } catch (thrown) {
    deps.reportError(`The webhook of the task ${task.id} could not be called.`, thrown);
  }
  return tries >= MOST_TRIES ? { ...webhook, tries, told: true } : { ...webhook, tries };
}
