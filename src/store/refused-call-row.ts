/** A call that was refused before it was admitted. */
export interface RefusedCallRow {
  id: string;
  at: number;
  /** Absent: the sender is unknown. */
  account?: string;
  key?: string;
  model?: string;
  dialect: string;
  stream: boolean;
  status: number;
  errorCode: string;
  durationMs: number;
  receipt: string;
}
