/** Runs a conversation: sends the turns, reads the stream, and can be stopped. */
import { useRef, useState } from 'react';
import { OfflineError } from '../../api/client.ts';
import { useWords } from '../../i18n/words.ts';
import { messageOf } from '../../parts/states.tsx';
import { applyDelta, type ChatOptions, requestOf, type Turn, waitingTools } from './chat.ts';
import { EventLines, isLast, readDelta } from './stream.ts';
import { sendAs } from './use-playground.ts';
import { words } from './words.ts';

export interface Chat {
  turns: readonly Turn[];
  isRunning: boolean;
  lastCall: string | undefined;
  say: (text: string) => void;
  answerTool: (id: string, result: string) => void;
  stop: () => void;
  clear: () => void;
}

export function useChat(key: string | undefined, options: ChatOptions): Chat {
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const [lastCall, setLastCall] = useState<string>();
  const [isRunning, setRunning] = useState(false);
  const abort = useRef<AbortController>(undefined);
  const t = useWords(words);

  const run = async (before: readonly Turn[]) => {
    if (!key) return;
    const controller = new AbortController();
    abort.current = controller;
    let turn: Turn = { role: 'assistant', text: '' };
    const show = (next: Turn) => {
      turn = next;
      setTurns([...before, turn]);
    };
    setRunning(true);
    show(turn);
    try {
      const body = requestOf(before, options);
      const response = await sendAs(key, '/v1/chat/completions', { method: 'POST', body, signal: controller.signal });
      const callId = response.headers.get('x-request-id');
      if (callId) show({ ...turn, callId });
      await readAnswer(response, (data) => {
        const delta = readDelta(data);
        if (delta) show(applyDelta(turn, delta));
      });
    } catch (error) {
      if (!controller.signal.aborted)
        show({ ...turn, error: turn.error ?? (error instanceof OfflineError ? t('cutOff') : messageOf(error)) });
    } finally {
      if (turn.callId) setLastCall(turn.callId);
      setRunning(false);
    }
  };

  return {
    turns,
    isRunning,
    lastCall,
    say: (text) => void run([...turns, { role: 'user', text }]),
    answerTool: (id, result) => {
      const last = turns.at(-1);
      if (!last?.toolCalls) return;
      const answered: Turn = {
        ...last,
        toolCalls: last.toolCalls.map((call) => (call.id === id ? { ...call, result } : call)),
      };
      const next = [...turns.slice(0, -1), answered];
      setTurns(next);
      if (waitingTools(next).length === 0) void run(next);
    },
    stop: () => abort.current?.abort(),
    clear: () => {
      abort.current?.abort();
      setTurns([]);
      setLastCall(undefined);
    },
  };
}

/** Throws an OfflineError where the answer ends before its last event: half an answer must not look like a whole one. */
export async function readAnswer(response: Response, onData: (data: string) => void): Promise<void> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  const lines = new EventLines();
  let isWhole = false;
  for (;;) {
    const read = await reader?.read().catch((error: unknown) => {
      throw error instanceof DOMException && error.name === 'AbortError' ? error : new OfflineError();
    });
    if (read === undefined || read.done) break;
    for (const data of lines.push(decoder.decode(read.value, { stream: true }))) {
      if (isLast(data)) isWhole = true;
      onData(data);
    }
  }
  if (!isWhole) throw new OfflineError();
}
