/** What the sender of a call says about it, for the record: bounded, and sent to nobody. */

export interface CallLabels {
  /** The `x-request-id` of the request. */
  readonly clientRequestId?: string | undefined;
  readonly user?: string | undefined;
  readonly metadata?: object | undefined;
  /** From `x-modelport-tags`, each once. */
  readonly tags?: readonly string[] | undefined;
}

export interface RequestHeaders {
  get(name: string): string | null | undefined;
}

/** What of a body is recorded. */
export interface LabelledCall {
  readonly user?: string;
  readonly metadata?: object;
}

export const NO_LABELS: CallLabels = {};

const LONGEST_ID = 128;
const MOST_TAGS = 16;
const LONGEST_TAG = 64;

/** `hasOwnHeaders`: there may be headers of the gateway's own. */
export function labelsOf(call: LabelledCall, headers: RequestHeaders, hasOwnHeaders: boolean): CallLabels {
  const clientRequestId = headers.get('x-request-id')?.slice(0, LONGEST_ID) || undefined;
  const tags = hasOwnHeaders ? tagsIn(headers.get('x-modelport-tags')) : undefined;
  const { user, metadata } = call;
  if (clientRequestId === undefined && tags === undefined && user === undefined && metadata === undefined)
    return NO_LABELS;
  return { clientRequestId, user, metadata, tags };
}

/** `team-a, batch`: what is too long or too many is left out. */
function tagsIn(value: string | null | undefined): readonly string[] | undefined {
  if (!value) return undefined;
  const tags = new Set(value.split(',').map((tag) => tag.trim()));
  const kept = [...tags].filter((tag) => tag !== '' && tag.length <= LONGEST_TAG).slice(0, MOST_TAGS);
  return kept.length > 0 ? kept : undefined;
}
