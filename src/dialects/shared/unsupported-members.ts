/**
 * Members that exist only in the client's own format, when the target speaks another: reported as dropped, or refused
 * if the answer depends on them.
 */
import type { ChatCall } from '../../canonical/call.ts';
import { GatewayError } from '../../canonical/errors.ts';
import type { Json, JsonObject } from '../../canonical/json.ts';

/**
 * Members that name data stored by a provider. Without that data the model would answer another question, so the
 * request is refused.
 */
const KEPT_ELSEWHERE: { readonly [dialect: string]: readonly string[] } = {
  'openai-responses': ['previous_response_id', 'conversation', 'prompt'],
  gemini: ['cachedContent'],
};

/** Members that the gateway itself implements, for every provider. */
const DONE_HERE: { readonly [dialect: string]: ReadonlySet<string> } = {
  'openai-responses': new Set(['store', 'include', 'truncation', 'background', 'stream_options']),
  // Read as `tools` and `tool_choice`.
  'openai-chat': new Set(['functions', 'function_call']),
};

const NOTHING: readonly string[] = [];

export interface UnsupportedMembers {
  dialect: string;
  names: readonly string[];
}

/**
 * Lists the members that the format `own` cannot express. Throws `invalid_request` for a member that cannot be left
 * out.
 */
export function unsupportedMembers({ extras, thread, origin }: ChatCall, own: string): UnsupportedMembers[] {
  if (thread && origin.dialect !== own) {
    if (thread.references.length > 0) throw keptElsewhere('input');
    if (thread.compacted !== undefined) throw compactedElsewhere(thread.compacted);
  }
  const found: UnsupportedMembers[] = [];
  for (const dialect in extras) {
    const names = dialect === own ? NOTHING : unsupportedNames(extras[dialect] ?? {}, dialect);
    if (names.length > 0) found.push({ dialect, names });
  }
  const deep = origin.dialect === own ? NOTHING : (origin.unsaid?.() ?? NOTHING);
  if (deep.length > 0) found.push({ dialect: origin.dialect, names: deep });
  return found;
}

function unsupportedNames(members: JsonObject, dialect: string): string[] {
  const names = Object.keys(members).filter(
    (name) => asksForSomething(members[name]) && !DONE_HERE[dialect]?.has(name),
  );
  const kept = names.find((name) => KEPT_ELSEWHERE[dialect]?.includes(name));
  if (kept !== undefined) throw keptElsewhere(kept);
  return names;
}

/** Libraries send an empty list where their user set nothing, for example LangChain as `safetySettings`. */
function asksForSomething(value: Json | undefined): boolean {
  return value !== null && !(Array.isArray(value) && value.length === 0);
}

function compactedElsewhere(param: string): GatewayError {
  const sentence = `\`${param}\` was compacted by another provider, and only that provider can read it. Send the conversation itself, or a compaction made for this model.`;
  return new GatewayError('invalid_request', sentence, { param });
}

function keptElsewhere(param: string): GatewayError {
  const sentence = `\`${param}\` refers to data that the model's provider does not have. Send the whole conversation instead.`;
  return new GatewayError('invalid_request', sentence, { param });
}
