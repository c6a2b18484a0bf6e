/**
 * What is left of a request or reply without its content: the structure, with the lengths of texts. Texts stay only where a format has a
 * fixed set of them (a role, the reason of an end), and names of models and ids.
 */
import type { Json } from '../../canonical/json.ts';

/** Members whose short texts belong to the format. */
const WORDS = new Set([
  'role',
  'type',
  'object',
  'model',
  'finish_reason',
  'finishReason',
  'stop_reason',
  'status',
  'event',
  'id',
  'call_id',
  'tool_call_id',
  'tool_use_id',
  'detail',
  'format',
  'mimeType',
  'media_type',
  'service_tier',
  'effort',
  'reasoning_effort',
  'encoding_format',
  'response_format',
  'modality',
  'size',
  'quality',
  'voice',
]);
/** Letters, digits and a few signs: what names and words of formats have. */
const WORD = /^[\w.:/-]{1,64}$/;
/** A key or token may look like a word. */
const SECRET_WORD = /^(sk|rk|pk|key|ghp|xox[a-z]|AIza|eyJ)[-_\w]/;
const NAME = /^[A-Za-z_$][\w.$-]{0,63}$/;
/** Objects that hold what a caller or a model wrote: their numbers are content too. */
const CONTENT = new Set([
  ...['arguments', 'args', 'partialArgs', 'input', 'metadata', 'functionResponse'],
  ...['structuredContent', 'structured_content'],
]);
const SECRET_NAME = /(^|[-_.])(api[-_]?key|key|token|secret|password|authorization|credentials?|cookie)$/i;
const MOST_DEPTH = 100;

export function redactedJson(value: Json, name = '', depth = 0): Json {
  return redacted(value, name, false, depth);
}

function redacted(value: Json, name: string, isContent: boolean, depth: number): Json {
  if (value === null) return value;
  if (SECRET_NAME.test(name)) return '[removed]';
  switch (typeof value) {
    case 'string':
      return redactedText(value, name, isContent);
    case 'number':
    case 'boolean':
      return isContent ? `[${typeof value}]` : value;
    default:
  }
  if (depth > MOST_DEPTH) return '[nested]';
  if (Array.isArray(value)) {
    // Vectors, and texts as tokens.
    if (value.length > 0 && value.every((one) => typeof one === 'number')) return `[${value.length} numbers]`;
    return value.map((one) => redacted(one, name, isContent, depth + 1));
  }
  const inside = isContent || CONTENT.has(name);
  const left: { [member: string]: Json } = {};
  for (const [member, inner] of Object.entries(value)) {
    if (inner === undefined) continue;
    const shown = NAME.test(member) && !hasKey(member) ? member : `[name ${member.length}]`;
    left[shown] = redacted(inner, member, inside, depth + 1);
  }
  return left;
}

function redactedText(text: string, name: string, isContent: boolean): string {
  if (!isContent && WORDS.has(name) && WORD.test(text) && !SECRET_WORD.test(text) && !hasKey(text)) return text;
  return `[text ${text.length}]`;
}

const hasKey = (text: string) => text.search(SECRET_VALUE) >= 0;

/** The events of a stream, each without its content. `undefined`: the text is no stream of events. */
export function redactedEvents(text: string): Json[] | undefined {
  if (!/^(data|event|:)/m.test(text)) return undefined;
  const events: Json[] = [];
  for (const line of text.split(/\r?\n/)) {
    if (!line.startsWith('data:')) continue;
    const data = line.slice('data:'.length).trim();
    events.push(data === '[DONE]' ? data : (redactedJsonText(data) ?? `[text ${data.length}]`));
  }
  return events;
}

/** `undefined`: the text is no JSON. */
export function redactedJsonText(text: string): Json | undefined {
  try {
    return redactedJson(JSON.parse(text) as Json);
  } catch {
    return undefined;
  }
}

/**
 * Members of a JSON text that hold a secret, with their texts. The text may be JSON inside JSON, which has backslashes before its quotes, and
 * may end before the member does. Every repetition is bounded or cannot begin at more than one place: a text must not cost more than its length.
 */
const SECRET_MEMBER =
  /((\\{0,7}")[\w-]{0,64}(?:(?:api|access|private|signing|account)[-_]?key|secret|password|authorization|credentials?|cookie|token)\2\s{0,16}:\s{0,16}\2)[\s\S]*?((?<!\\)\2|$)/gi;
/** Keys by their usual beginnings, and tokens after their scheme. */
const SECRET_VALUE = new RegExp(
  [
    String.raw`\b(?:sk|rk|gsk|xai|hf|pplx|nvapi|glpat|npm|gh[oprsu]|github_pat|xox[a-z])[-_][\w-]{12,}`,
    String.raw`\bAIza[\w-]{20,}`,
    String.raw`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`,
    String.raw`\b(?:Bearer|Basic) +[\w.~+/=-]{8,}`,
    '-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]*(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?',
  ].join('|'),
  'g',
);
/** A password in a URL. */
const SECRET_IN_URL = /(\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/"@]{0,256}:)[^\s:/"@]{1,256}@/gi;

/** The text without keys that a caller or a provider may have written into it. */
export function withoutKeys(text: string): string {
  return text.replace(SECRET_MEMBER, '$1[key]$3').replace(SECRET_IN_URL, '$1[key]@').replace(SECRET_VALUE, '[key]');
}

/** The text without the beginning of one of these secrets at its end, where a limit has cut it. */
export function withoutCutSecret(text: string, secrets: readonly string[]): string {
  const cut = secrets.map((secret) => {
    let length = Math.min(secret.length - 1, text.length);
    while (length >= SHORTEST_CUT && !text.endsWith(secret.slice(0, length))) length--;
    return length < SHORTEST_CUT ? 0 : length;
  });
  const longest = Math.max(0, ...cut);
  return longest > 0 ? `${text.slice(0, -longest)}[key]` : text;
}

/** A shorter part of a secret reveals nothing, and could be a word. */
const SHORTEST_CUT = 4;
