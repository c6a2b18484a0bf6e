/** The tasks as the store keeps them: claimed under a lease, saved by who holds it. Times are milliseconds since 1970. */

export interface TaskRow {
  id: string;
  account: string;
  createdAt: number;
  /** The client's own name for the request: a second one with the same is the first. */
  idempotencyKey?: string;
  /** When it next needs somebody; absent: never again. */
  dueAt?: number;
  /** What the task is, as JSON text. */
  body: string;
  /** What is needed until it has been started, as JSON text: it may be large, so it is read and written apart. */
  request?: string;
}

/** What a save changes; absent members stay. */
export interface TaskChange {
  body: string;
  dueAt: number | undefined;
  /** Its request is needed no more. */
  dropRequest?: boolean;
  /** The lease ends with this save. */
  release: boolean;
}

export interface TaskStore {
  /** Inserts it leased to `worker`; where the account has used the idempotency key before, returns that task instead. */
  insert(row: TaskRow, worker: string, leaseUntil: number): Promise<TaskRow>;
  task(id: string): Promise<TaskRow | undefined>;
  /** Those of these ids that are tasks. */
  known(ids: readonly string[]): Promise<Set<string>>;
  taskByKey(account: string, idempotencyKey: string): Promise<TaskRow | undefined>;
  request(id: string): Promise<string | undefined>;
  /** Newest first, or oldest; `after` is an id; `without`: what the ids of those left out begin with. */
  tasks(
    account: string,
    page: { limit: number; after?: string; oldestFirst?: boolean; without?: string },
  ): Promise<TaskRow[]>;
  /** Leases tasks that are due and in nobody's hands to `worker`, the longest due first: each to one worker, whatever their number. */
  claim(worker: string, now: number, leaseUntil: number, limit: number): Promise<TaskRow[]>;
  /** Leases this one, whether due or not; `false`: it is in another's hands. */
  take(id: string, worker: string, now: number, leaseUntil: number): Promise<boolean>;
  /** `false`: the lease is another's by now, and nothing was saved. */
  save(id: string, worker: string, change: TaskChange): Promise<boolean>;
  /** `false`: the lease is another's by now. */
  extend(id: string, worker: string, leaseUntil: number): Promise<boolean>;
  /** Who has tasks in hand, or had when it died. */
  workers(): Promise<string[]>;
  /** Ends all leases of these workers: what is due of theirs is anybody's. */
  releaseOf(workers: readonly string[]): Promise<void>;
  remove(id: string): Promise<void>;
  /** What the account's webhooks are signed with: made on first use. */
  webhookSecret(account: string): Promise<string>;
}
