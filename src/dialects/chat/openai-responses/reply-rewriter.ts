/**
 * Changes a provider's response where the gateway decides: the model name, how the reply is stored, and members that
 * readers require.
 */
import type { ChatCall } from '../../../canonical/call.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import type { Usage } from '../../../canonical/usage.ts';
import { addToMember, memberSpan, patchMembers, spliceBytes } from '../../wire/json.ts';
import { completedAt, echoedSettings, keptAs, wholeText, wholeTools } from './response-object.ts';
import { writeResponseUsage } from './usage.ts';

const encoder = new TextEncoder();

/** Members that OpenAI always sends and Open Responses 2.3.0 requires. Local servers omit some. */
export const DEMANDED = [
  'background',
  'completed_at',
  'error',
  'frequency_penalty',
  'incomplete_details',
  'instructions',
  'max_output_tokens',
  'max_tool_calls',
  'metadata',
  'parallel_tool_calls',
  'presence_penalty',
  'previous_response_id',
  'prompt_cache_key',
  'reasoning',
  'safety_identifier',
  'service_tier',
  'store',
  'temperature',
  'text',
  'tool_choice',
  'tools',
  'top_logprobs',
  'top_p',
  'truncation',
  'user',
] as const;

export class ReplyRewriter {
  readonly #call: ChatCall;
  readonly #model: string;
  readonly #quotedModel: Uint8Array;
  /** Members about storage; `undefined` keeps the provider's. */
  readonly #kept: JsonObject | undefined;

  constructor(call: ChatCall) {
    this.#call = call;
    this.#model = call.model;
    this.#quotedModel = encoder.encode(JSON.stringify(call.model));
    const { thread } = call;
    if (thread?.replyId !== undefined) this.#kept = { id: thread.replyId, ...keptAs(call) };
    else if (thread?.isResumed) this.#kept = keptAs(call);
  }

  /**
   * Changes an event's bytes. `jsonStart`: the position of the JSON; `reply`: the response in it; `usage`: its usage, if
   * it is known.
   */
  inEvent(bytes: Uint8Array, jsonStart: number, reply: JsonObject, usage: Usage | undefined): Uint8Array {
    const response = memberSpan(bytes, 'response', jsonStart);
    if (!response) return bytes;
    const patches = this.#patches(reply, usage);
    if (!patches) return this.#named(bytes, response.start);
    const patched = patch(bytes.subarray(response.start, response.end), patches);
    return spliceBytes(bytes, response.start, response.end, patched);
  }

  inWhole(bytes: Uint8Array, reply: JsonObject, usage: Usage | undefined): Uint8Array {
    const patches = this.#patches(reply, usage);
    return patches ? patch(bytes, patches) : this.#named(bytes, 0);
  }

  inObject(reply: JsonObject, usage: Usage | undefined): JsonObject {
    const patches = this.#patches(reply, usage);
    if (patches) return { ...reply, ...patches.members, ...wholeUsage(reply, patches.counts) };
    return { ...reply, ...('model' in reply && { model: this.#model }) };
  }

  /** What to change; `undefined` if at most the model name changes. */
  #patches(reply: JsonObject, usage: Usage | undefined): RewrittenMembers | undefined {
    const members: JsonObject = {};
    this.#addMissing(reply, members);
    if (reply.usage === undefined && !usage) members.usage = null;
    const text = wholeText(reply.text ?? null);
    if (reply.text !== undefined && text !== reply.text) members.text = text;
    const tools = Array.isArray(reply.tools) ? wholeTools(reply.tools) : reply.tools;
    if (tools !== undefined && tools !== reply.tools) members.tools = tools;
    Object.assign(members, this.#kept);
    const counts = usage && missingCounts(reply.usage, usage);
    if (!counts && Object.keys(members).length === 0) return undefined;
    if (reply.model !== undefined || this.#kept) members.model = this.#model;
    return { members, counts };
  }

  #addMissing(reply: JsonObject, patches: JsonObject): void {
    let settings: JsonObject | undefined;
    for (const member of DEMANDED) {
      if (reply[member] !== undefined) continue;
      settings ??= {
        ...echoedSettings(this.#call),
        completed_at: completedAt(this.#call, reply.status, reply.created_at),
        error: null,
        incomplete_details: null,
      };
      patches[member] = settings[member] ?? null;
    }
  }

  #named(bytes: Uint8Array, from: number): Uint8Array {
    const span = memberSpan(bytes, 'model', from);
    const quoted = this.#quotedModel;
    if (!span || Buffer.from(bytes.buffer, bytes.byteOffset + span.start, span.end - span.start).equals(quoted)) {
      return bytes;
    }
    return spliceBytes(bytes, span.start, span.end, quoted);
  }
}

/** Members to set, and counts to add to the usage. */
interface RewrittenMembers {
  members: JsonObject;
  counts: JsonObject | undefined;
}

function patch(response: Uint8Array, { members, counts }: RewrittenMembers): Uint8Array {
  const patched = patchMembers(response, members);
  return counts ? addToMember(patched, 'usage', counts) : patched;
}

/** Counts of docs/api.md#usage that the provider's usage lacks; `undefined` if it lacks none. */
function missingCounts(reply: Json | undefined, usage: Usage): JsonObject | undefined {
  const written = writeResponseUsage(usage);
  if (!isObject(reply)) return written;
  const missing: JsonObject = {};
  for (const member in written) {
    if (reply[member] === undefined || reply[member] === null) missing[member] = written[member] ?? null;
  }
  return Object.keys(missing).length > 0 ? missing : undefined;
}

function wholeUsage({ usage }: JsonObject, counts: JsonObject | undefined): { usage?: JsonObject } {
  return counts ? { usage: { ...(isObject(usage) && usage), ...counts } } : {};
}
