/** Members that only the client's own format has, before a target of another: reported, unless they hold what the model is asked. */
import type { ChatCall } from '../../canonical/call.ts';
import { GatewayError } from '../../canonical/errors.ts';
import type { JsonObject } from '../../canonical/json.ts';

/** Names of what a provider keeps: without it another question would be answered. */
const KEPT_ELSEWHERE: { readonly [dialect: string]: readonly string[] } = {
  'openai-responses': ['previous_response_id', 'conversation', 'prompt'],
  gemini: ['cachedContent'],
};

/** What the gateway itself does, whoever the model's provider is. */
const DONE_HERE: { readonly [dialect: string]: ReadonlySet<string> } = {
  'openai-responses': new Set(['store', 'include', 'truncation', 'background', 'stream_options']),
  // Read as tools, and as what chooses them.
  'openai-chat': new Set(['functions', 'function_call']),
};

const NOTHING: readonly string[] = [];

export interface ForeignMembers {
  dialect: string;
  names: readonly string[];
}

/** What the format `own` has no word for. Throws `invalid_request` naming a member that cannot be left out. */
export function foreignMembers({ extras, thread, origin }: ChatCall, own: string): ForeignMembers[] {
  if (thread && origin.dialect !== own) {
    if (thread.references.length > 0) throw keptElsewhere('input');
    if (thread.compacted !== undefined) throw compactedElsewhere(thread.compacted);
  }
  const found: ForeignMembers[] = [];
  for (const dialect in extras) {
    const names = dialect === own ? NOTHING : foreignNames(extras[dialect] ?? {}, dialect);
    if (names.length > 0) found.push({ dialect, names });
  }
  const deep = origin.dialect === own ? NOTHING : (origin.unsaid?.() ?? NOTHING);
  if (deep.length > 0) found.push({ dialect: origin.dialect, names: deep });
  return found;
}

function foreignNames(members: JsonObject, dialect: string): string[] {
  const names = Object.keys(members).filter((name) => members[name] !== null && !DONE_HERE[dialect]?.has(name));
  const kept = names.find((name) => KEPT_ELSEWHERE[dialect]?.includes(name));
  if (kept !== undefined) throw keptElsewhere(kept);
  return names;
}

function compactedElsewhere(param: string): GatewayError {
  const sentence = `\`${param}\` was compacted by a provider, and no other can read it: send the conversation itself, or a compaction made for this model.`;
  return new GatewayError('invalid_request', sentence, { param });
}

function keptElsewhere(param: string): GatewayError {
  const sentence = `\`${param}\` names what this provider does not hold: send the whole conversation instead.`;
  return new GatewayError('invalid_request', sentence, { param });
}
