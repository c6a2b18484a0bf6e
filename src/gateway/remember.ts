/** What is kept of a call that has come to its end: its reply where the client asks for it, and what proves its thinking. */
import type { ChatCall } from '../canonical/call.ts';
import type { Keeping, VendorDialect, Writer } from '../dialects/dialect.ts';
import type { RememberedResponse } from '../memory/memory.ts';
import type { ProofRow } from '../store/kept.ts';
import type { GatewayRooms } from './rooms.ts';
import type { Walk } from './walk.ts';

/** `undefined`: there is nothing to keep. Otherwise resolves when it is kept, or when it is known that it cannot be. */
export function remember(rooms: GatewayRooms, walk: Walk, writer: Writer): Promise<void> | undefined {
  const { call, witness } = walk;
  if (call.kind !== 'chat' || (!witness && call.thread?.replyId === undefined)) return undefined;
  const response = keptResponse(walk, call, writer);
  const proofs = witness?.proofs(rooms.memory.vault, walk.caller.account, call, walk.at) ?? [];
  if (!response && proofs.length === 0) return undefined;
  return keep(rooms, walk, response, proofs);
}

async function keep(
  rooms: GatewayRooms,
  walk: Walk,
  response: RememberedResponse | undefined,
  proofs: readonly ProofRow[],
): Promise<void> {
  try {
    await rooms.memory.keep(response, proofs);
  } catch (thrown) {
    walk.warnings = [...walk.warnings, 'What should have been kept of this reply could not be.'];
    rooms.trouble('What should have been kept of a call could not be.', thrown);
  }
}

function keptResponse(walk: Walk, call: ChatCall, writer: Writer): RememberedResponse | undefined {
  const keeping = walk.dialect.keeping as Keeping<ChatCall> | undefined;
  const id = call.thread?.replyId;
  const whole = id !== undefined && writer.kept?.();
  if (!keeping || !whole) return undefined;
  const { input, output, reply } = keeping.keep(call, whole);
  const { previous } = call.thread ?? {};
  return {
    id,
    account: walk.caller.account,
    ...(previous !== undefined && { previous }),
    at: walk.at,
    // Written anew, every proof says itself whose it is.
    ...(walk.upstreamDialect === walk.dialect.name && walk.maker !== undefined && { maker: walk.maker }),
    input: JSON.stringify(input),
    output: JSON.stringify(output),
    reply: JSON.stringify(reply),
    items: [...input, ...output].flatMap((item) => (typeof item.id === 'string' ? item.id : [])),
  };
}

/** Who can make use of a target's proofs: everybody who speaks its dialect, or its row of the catalogue alone. */
export function makerOf(dialect: VendorDialect, provider: string): string {
  return dialect.boundProofs ? `${dialect.name}@${provider}` : dialect.name;
}
