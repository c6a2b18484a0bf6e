/** Calls of one conversation go to one target, whose prompt cache knows it: the key of a conversation, and what is bound to it. */
import type { Call, ChatCall } from '../canonical/call.ts';

/** Providers cache prompts for five minutes to an hour; after that time without use a binding has no value. */
const KEPT_MS = 30 * 60_000;
/** The maximum of bindings: about 10 MB. The least recently used one is removed. */
const MOST_BOUND = 50_000;

/** Headers that name a session: of anybody, of Claude Code, of Codex. */
const SESSION_HEADERS = ['x-session-id', 'x-claude-code-session-id', 'session_id', 'session-id', 'conversation_id'];
/** Longer names of sessions are cut, to bound the memory. */
const LONGEST_NAME = 200;

/** Formats whose user id names a session: Claude Code sends it in `metadata.user_id`. In others it is a person with many sessions. */
const USER_IS_SESSION: { readonly [format: string]: true } = { 'anthropic-messages': true };

/** A request's headers. */
interface SessionHeaders {
  get(name: string): string | null | undefined;
}

/**
 * The key of the conversation that a call belongs to: a session that is named, else a hash of what stays the same from turn to turn.
 * `undefined` for calls that are no conversations.
 */
export function affinityKey(call: Call, account: string, headers: SessionHeaders | undefined): string | undefined {
  if (call.kind !== 'chat') return undefined;
  const named = namedSession(call, headers);
  const key = named === undefined ? `#${hashOf(call)}` : named.slice(0, LONGEST_NAME);
  return keyOf(account, call.model, key);
}

/** The key of conversations that continue a stored reply. */
export function replyKey(call: Call, account: string): string | undefined {
  const id = call.kind === 'chat' ? call.thread?.replyId : undefined;
  return id === undefined ? undefined : keyOf(account, call.model, id);
}

const keyOf = (account: string, model: string, session: string) => `${account}\n${model}\n${session}`;

function namedSession(call: ChatCall, headers: SessionHeaders | undefined): string | undefined {
  if (headers) {
    for (const name of SESSION_HEADERS) {
      const session = headers.get(name);
      if (session) return session;
    }
  }
  if (call.cacheKey) return call.cacheKey;
  if (call.thread?.previous !== undefined) return call.thread.previous;
  return USER_IS_SESSION[call.origin.dialect] ? call.user : undefined;
}

/** Of the system prompt, the tools and the first message of the user. */
function hashOf(call: ChatCall): bigint | number {
  let hash: number | bigint = 0;
  const add = (text: string) => {
    hash = Bun.hash(text, BigInt(hash));
  };
  for (const tool of call.tools) add('name' in tool ? `${tool.name}\n${tool.description ?? ''}` : tool.type);
  for (const { role, parts } of call.messages) {
    for (const part of parts) add(part.type === 'text' ? part.text : part.type);
    if (role === 'user') break;
  }
  return hash;
}

interface Binding {
  target: string;
  until: number;
}

/** Which target answered a conversation last. Times are milliseconds since 1970. Never throws. */
export interface Affinity {
  /** The target that the conversation is bound to. */
  find(key: string, now: number): string | undefined;
  bind(key: string, target: string, now: number): void;
  /** The target has failed: the conversation is bound to it no more. */
  drop(key: string, target: string): void;
  readonly size: number;
}

/**
 * An empty memory of at most `most` conversations (50,000 by default; the one unused for longest is dropped), each for `keptMs` after its last
 * use.
 */
export function createAffinity(most = MOST_BOUND, keptMs = KEPT_MS): Affinity {
  /** The one that was used longest ago first. */
  const bindings = new Map<string, Binding>();
  return {
    find(key, now) {
      const binding = bindings.get(key);
      if (!binding) return undefined;
      if (binding.until > now && binding.until - now <= keptMs) return binding.target;
      bindings.delete(key);
      return undefined;
    },
    bind(key, target, now) {
      bindings.delete(key);
      bindings.set(key, { target, until: now + keptMs });
      if (bindings.size <= most) return;
      const [oldest] = bindings.keys();
      if (oldest !== undefined) bindings.delete(oldest);
    },
    drop(key, target) {
      if (bindings.get(key)?.target === target) bindings.delete(key);
    },
    get size() {
      return bindings.size;
    },
  };
}
