/** Storage of tasks: claimed under a lease, saved only by the holder of the lease. Times are in milliseconds since 1970. */

export interface TaskRow {
  id: string;
  account: string;
  createdAt: number;
  /** The client's idempotency key: a second request with the same key returns the first task. */
  idempotencyKey?: string;
  /** When the task next needs work. Absent: never again. */
  dueAt?: number;
  /** The task as JSON text. */
  body: string;
  /** The request as JSON text, needed until the task has started. It may be large, so it is read and written separately. */
  request?: string;
}

/** What a save changes. Absent members stay unchanged. */
export interface TaskChange {
  body: string;
  dueAt: number | undefined;
  /** Removes the request, which is no longer needed. */
  dropRequest?: boolean;
  /** Ends the lease with this save. */
  release: boolean;
}

export interface TaskStore {
  /** Inserts the task, leased to `worker`. If the account has used the idempotency key before, returns the earlier task. */
  insert(row: TaskRow, worker: string, leaseUntil: number): Promise<TaskRow>;
  task(id: string): Promise<TaskRow | undefined>;
  /** The ids that are tasks. */
  known(ids: readonly string[]): Promise<Set<string>>;
  taskByKey(account: string, idempotencyKey: string): Promise<TaskRow | undefined>;
  request(id: string): Promise<string | undefined>;
  /** Newest first, or oldest first. `after` is an id. `without`: ids with this prefix are left out. */
  tasks(
    account: string,
    page: { limit: number; after?: string; oldestFirst?: boolean; without?: string },
  ): Promise<TaskRow[]>;
  /** Leases due tasks that have no lease to `worker`, the longest due first. Each task goes to one worker only. */
  claim(worker: string, now: number, leaseUntil: number, limit: number): Promise<TaskRow[]>;
  /** Leases this task, due or not. `false` if another worker has it. */
  take(id: string, worker: string, now: number, leaseUntil: number): Promise<boolean>;
  /** `false` if another worker has the lease; then nothing was saved. */
  save(id: string, worker: string, change: TaskChange): Promise<boolean>;
  /** `false` if another worker has the lease. */
  extend(id: string, worker: string, leaseUntil: number): Promise<boolean>;
  /** Workers with leases, dead ones included. */
  workers(): Promise<string[]>;
  /** Ends all leases of these workers, so that others can claim their due tasks. */
  releaseOf(workers: readonly string[]): Promise<void>;
  remove(id: string): Promise<void>;
  /** The secret that signs the account's webhooks. Created on first use. */
  webhookSecret(account: string): Promise<string>;
}
