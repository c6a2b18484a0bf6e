/** A fixed response in the Responses format, for tests without recordings. */

/** An encrypted reasoning item with a summary. */
export const REASONING_ITEM = {
  type: 'reasoning',
  id: 'rs_1',
  summary: [{ type: 'summary_text', text: 'Hm.' }],
  encrypted_content: 'proof',
};

/** `items`, then a message; with these tokens. */
export const responsesReply = <Item>(
  [input, output]: readonly [input: number, output: number],
  items: readonly Item[],
) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  model: 'm',
  status: 'completed',
  output: [
    ...items,
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Hi', annotations: [] }],
    },
  ],
  usage: { input_tokens: input, output_tokens: output, total_tokens: input + output },
});
