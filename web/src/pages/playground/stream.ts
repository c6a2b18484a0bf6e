/** Server-sent events of a chat answer. Pure: text in, parts out. */
export interface Delta {
  text?: string;
  reasoning?: string;
  toolCalls?: readonly { index: number; id?: string; name?: string; arguments?: string }[];
  error?: string;
}

interface Chunk {
  error?: { message?: string };
  choices?: {
    delta?: {
      content?: string | null;
      reasoning_content?: string | null;
      tool_calls?: { index?: number; id?: string; function?: { name?: string; arguments?: string } }[];
    };
  }[];
}

/** Collects bytes into lines and gives the data of each complete event. */
export class EventLines {
  #rest = '';

  push(text: string): string[] {
    const lines = (this.#rest + text).split(/\r?\n/);
    this.#rest = lines.pop() ?? '';
    return lines.filter((line) => line.startsWith('data:')).map((line) => line.slice(5).trim());
  }
}

/** The last event of an answer that came whole. */
export const isLast = (data: string): boolean => data === '[DONE]';

export function readDelta(data: string): Delta | undefined {
  if (isLast(data)) return undefined;
  const { choices, error } = JSON.parse(data) as Chunk;
  if (error) return { error: error.message ?? 'error' };
  const delta = choices?.[0]?.delta;
  if (!delta) return undefined;
  const found: Delta = {};
  if (delta.content) found.text = delta.content;
  if (delta.reasoning_content) found.reasoning = delta.reasoning_content;
  if (delta.tool_calls) {
    found.toolCalls = delta.tool_calls.map(({ index = 0, id, function: called }) => ({
      index,
      ...(id && { id }),
      ...(called?.name && { name: called.name }),
      ...(called?.arguments && { arguments: called.arguments }),
    }));
  }
  return found;
}
