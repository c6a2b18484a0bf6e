/** The keys by which a turn of a model is found when a client sends it back. */
import type { Message, Part } from '../canonical/call.ts';

/**
 * The keys of the turn at `index`, the most reliable first: the id of its first tool call if unique, then its content together with what it
 * answers.
 */
export function turnKeys(messages: readonly Message[], index: number, turn: Message): string[] {
  const call = turn.parts.find((part) => part.type === 'tool-call');
  const keys: string[] = [];
  if (call && isUnique(call.id)) keys.push(digest(['call', call.id, call.name]));
  const content = contentOf(turn.parts);
  if (content.length > 0) keys.push(digest(['turn', ...content, ...askedBefore(messages, index)]));
  return keys;
}

/** As long as a random source makes them. Some providers number their calls, and the gateway does so for providers without ids. */
function isUnique(id: string): boolean {
  if (/^call_[0-9a-f]{24}$/.test(id)) return false;
  return (id.match(/[0-9A-Za-z]{8,}/g) ?? []).some((run) => /\d/.test(run) && /[A-Za-z]/.test(run));
}

/** For a turn with tool calls only the calls: clients drop or change the text beside them. */
function contentOf(parts: readonly Part[]): string[] {
  const calls = parts.flatMap((part) => (part.type === 'tool-call' ? [part.name, plainArguments(part.input)] : []));
  if (calls.length > 0) return calls;
  const text = parts.map((part) => (part.type === 'text' || part.type === 'refusal' ? part.text : '')).join('');
  return text.trim() === '' ? [] : [text.trim()];
}

/** The messages between the turn and the previous turn of the model: the same words may answer another question. */
function askedBefore(messages: readonly Message[], index: number): string[] {
  const asked: string[] = [];
  for (let at = index - 1; at >= 0; at--) {
    const message = messages[at];
    if (!message || message.role === 'assistant') break;
    if (message.role !== 'system') asked.push(message.parts.map(wordsOf).join(''));
  }
  return asked.reverse().map((words) => words.trim());
}

function wordsOf(part: Part): string {
  if (part.type === 'text') return part.text;
  return part.type === 'tool-result' ? part.parts.map(wordsOf).join('') : '';
}

/** Client libraries parse and rewrite arguments, so white space and the order of members are ignored. */
function plainArguments(input: string): string {
  try {
    return JSON.stringify(sorted(JSON.parse(input === '' ? '{}' : input)));
  } catch {
    return input;
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  );
}

function digest(words: readonly string[]): string {
  return new Bun.CryptoHasher('sha256').update(JSON.stringify(words)).digest('base64url');
}
