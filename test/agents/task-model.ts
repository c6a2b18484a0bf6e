/** A provider's model that performs one task: it calls the given tool, and when the result has arrived, reports that it is done. */

import type { ModelOutput } from '../helpers/model-output.ts';
import { PROVIDERS, type ProviderName } from '../helpers/provider-answers.ts';
import { readSent, type Sent } from '../helpers/provider-requests.ts';

export interface TaskModel {
  readonly url: string;
  /** The requests it received, in order. */
  readonly sent: { sent: Sent; body: unknown; headers: Headers }[];
  close(): Promise<void>;
}

export const DONE = 'The file is written.';

/** `act`: selects the tool call for the task from the offered tools. Side questions of the agent offer no tools. */
export function startTaskModel(
  provider: ProviderName,
  act: (sent: Sent) => { name: string; args: object } | undefined,
): TaskModel {
  const sent: TaskModel['sent'] = [];
  function reply(received: Sent): ModelOutput {
    const call = act(received);
    const isAnswered = received.turns.some(({ parts }) => parts.some(({ type }) => type === 'result'));
    if (!call) return { texts: ['A ', 'title'] };
    return isAnswered ? { texts: [DONE] } : { thought: 'It has to be written.', calls: [{ id: 'toolu_01A', ...call }] };
  }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const body = await request.json();
      const received = readSent(provider, body);
      sent.push({ sent: received, body, headers: request.headers });
      const streams = (body as { stream?: boolean }).stream === true || request.url.includes('streamGenerateContent');
      const output = reply(received);
      if (!streams) return Response.json(PROVIDERS[provider].whole(output).json);
      const { events = [], withoutTerminator } = PROVIDERS[provider].stream(output);
      const lines = events.map((event) => (typeof event === 'string' ? event : `data: ${JSON.stringify(event)}\n\n`));
      const text = lines.join('') + (withoutTerminator ? '' : 'data: [DONE]\n\n');
      return new Response(text, { headers: { 'content-type': 'text/event-stream' } });
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, sent, close: () => server.stop(true) };
}
