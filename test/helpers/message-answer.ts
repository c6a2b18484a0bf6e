/** A fixed non-streaming response in the messages format, for tests without recordings. */
export function messageAnswer(text: string, usage: { input_tokens: number; output_tokens: number }) {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [{ type: 'text', text }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage,
  };
}
