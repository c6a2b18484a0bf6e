/** Runs a conversation: sends the turns, reads the stream, and can be stopped. */
import { useRef, useState } from 'react';
import { messageOf } from '../../parts/states.tsx';
import { applyDelta, type ChatOptions, requestOf, type Turn, waitingTools } from './chat.ts';
import { EventLines, readDelta } from './stream.ts';
import { sendAs } from './use-playground.ts';

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
      if (callId) setLastCall(callId);
    } catch (error) {
      if (!controller.signal.aborted) show({ ...turn, error: messageOf(error) });
      else if (turn.callId) setLastCall(turn.callId);
    } finally {
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

async function readAnswer(response: Response, onData: (data: string) => void): Promise<void> {
  const reader = response.body?.getReader();
  if (!reader) return;
  const decoder = new TextDecoder();
  const lines = new EventLines();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    for (const data of lines.push(decoder.decode(value, { stream: true }))) onData(data);
  }
}
