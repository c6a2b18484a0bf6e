/** A conversation of the playground: pure changes, and the request that belongs to it. */
import type { Delta } from './stream.ts';

export interface ToolCall {
  id: string;
  name: string;
  arguments: string;
  /** What the person answered. */
  result?: string;
}

export interface Turn {
  role: 'user' | 'assistant';
  text: string;
  reasoning?: string;
  toolCalls?: readonly ToolCall[];
  error?: string;
  callId?: string;
}

export interface ChatOptions {
  model: string;
  system: string;
  reasoning: string;
  maxTokens: string;
  tools: string;
}

export function applyDelta(turn: Turn, { text, reasoning, toolCalls, error }: Delta): Turn {
  const next: Turn = { ...turn };
  if (text) next.text += text;
  if (reasoning) next.reasoning = (turn.reasoning ?? '') + reasoning;
  if (error) next.error = error;
  if (toolCalls) {
    const calls = [...(turn.toolCalls ?? [])];
    for (const { index, id, name, arguments: more = '' } of toolCalls) {
      const known = calls[index] ?? { id: id ?? `call_${index}`, name: '', arguments: '' };
      calls[index] = { ...known, name: known.name + (name ?? ''), arguments: known.arguments + more };
    }
    next.toolCalls = calls;
  }
  return next;
}

/** Tools that still wait for an answer of the person. */
export function waitingTools(turns: readonly Turn[]): readonly ToolCall[] {
  return turns.at(-1)?.toolCalls?.filter(({ result }) => result === undefined) ?? [];
}

function messagesOf(turn: Turn): object[] {
  if (turn.role === 'user') return [{ role: 'user', content: turn.text }];
  if (turn.error && turn.text === '') return [];
  const calls = turn.toolCalls ?? [];
  const called = calls.map(({ id, name, arguments: given }) => ({
    id,
    type: 'function',
    function: { name, arguments: given },
  }));
  return [
    { role: 'assistant', content: turn.text, ...(called.length > 0 && { tool_calls: called }) },
    ...calls.map(({ id, result = '' }) => ({ role: 'tool', tool_call_id: id, content: result })),
  ];
}

/** Undefined where the text is not a list of tools. */
export function readTools(text: string): object[] | undefined {
  if (text.trim() === '') return [];
  try {
    const tools: unknown = JSON.parse(text);
    return Array.isArray(tools) ? (tools as object[]) : undefined;
  } catch {
    return undefined;
  }
}

export function requestOf(turns: readonly Turn[], { model, system, reasoning, maxTokens, tools }: ChatOptions): object {
  const limit = Number(maxTokens.replaceAll(',', ''));
  const given = readTools(tools) ?? [];
  return {
    model,
    stream: true,
    ...(reasoning !== '' && { reasoning_effort: reasoning }),
    ...(Number.isInteger(limit) && limit > 0 && { max_completion_tokens: limit }),
    messages: [...(system.trim() === '' ? [] : [{ role: 'system', content: system }]), ...turns.flatMap(messagesOf)],
    ...(given.length > 0 && { tools: given }),
  };
}
