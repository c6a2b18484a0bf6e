/** Puts the stored conversation before a call that continues it, and gives its reply the id under which it is stored. */
import type { Caller } from '../../access/access.ts';
import type { ChatCall } from '../../canonical/call.ts';
import { GatewayError } from '../../canonical/errors.ts';
import { newTimedId } from '../../canonical/id.ts';
import type { JsonObject } from '../../canonical/json.ts';
import type { Memory } from '../../conversations/conversations.ts';
import type { Dialect, Keeping, KeptTurn } from '../../dialects/dialect.ts';
import type { ResponseRow } from '../../store/kept.ts';

/** Throws `not_found` if the previous response is not stored for the account. */
export async function loadConversation(
  memory: Memory,
  mostBytes: number,
  { keeping }: Dialect,
  call: ChatCall,
  { account }: Caller,
  at: number,
): Promise<ChatCall> {
  const { thread } = call;
  if (!thread || !keeping) return call;
  keeping.check(call);
  if (!memory.keepsResponses) return call;
  const { previous, references } = thread;
  let resumed = call;
  if (previous !== undefined || references.length > 0) {
    const [before, known] = await Promise.all([
      previous === undefined ? [] : memory.responseChain(account, previous, at),
      memory.responsesWith(account, references, at),
    ]);
    if (previous !== undefined && before.length === 0) throw unknownPrevious(previous);
    boundBytes([...before, ...known], mostBytes);
    resumed = (keeping as Keeping<ChatCall>).resume(call, before.map(turnOf), known.map(turnOf));
  }
  if (resumed.thread?.store) resumed.thread.replyId = newTimedId(keeping.idPrefix, at);
  return resumed;
}

function turnOf({ input, output, reply, owner }: ResponseRow): KeptTurn {
  return {
    input: JSON.parse(input) as JsonObject[],
    output: JSON.parse(output) as JsonObject[],
    reply: JSON.parse(reply) as JsonObject,
    ...(owner !== undefined && { owner }),
  };
}

function boundBytes(rows: readonly ResponseRow[], most: number): void {
  const length = rows.reduce((sum, { input, output }) => sum + input.length + output.length, 0);
  if (length <= most) return;
  const sentence = `The conversation that \`previous_response_id\` names is longer than the ${most} bytes that a request may have.`;
  throw new GatewayError('request_too_large', sentence, { param: 'previous_response_id' });
}

function unknownPrevious(id: string): GatewayError {
  const sentence = `Previous response with id '${id}' not found: it was not stored, has been deleted, or is another account's.`;
  return new GatewayError('not_found', sentence, { param: 'previous_response_id' });
}
