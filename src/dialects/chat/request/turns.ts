/** Arranges turns for formats that require alternating roles and every tool result in the turn after its call. */
import type { Json, JsonObject } from '../../../canonical/json.ts';

export type Turn = {
  role: 'user' | 'assistant' | 'system';
  content: JsonObject[];
};

/** A conversation as formats write it whose instructions stand beside the turns. */
export interface WrittenConversation {
  system: JsonObject[];
  messages: Turn[];
}

/** Where a part stands. */
export type PartPlace = Turn['role'] | 'result';

/** Reads the tool call id from a format's blocks: as the call, or as its result. */
export interface Links {
  call(block: JsonObject): Json | undefined;
  result(block: JsonObject): Json | undefined;
}

/** Joins turns so that roles alternate, and moves each tool result to the start of the user turn after its call. */
export function alternating(turns: readonly Turn[], links: Links): Turn[] {
  const joined = joinTurns(turns);
  return joined.some((turn) => holdsResult(turn, links)) ? joinTurns(bringResultsHome(joined, links)) : joined;
}

function holdsResult({ role, content }: Turn, { result }: Links): boolean {
  if (role !== 'assistant') for (const block of content) if (result(block) !== undefined) return true;
  return false;
}

/** Drops empty turns and joins neighbors of one role. */
function joinTurns(turns: readonly Turn[]): Turn[] {
  const joined: Turn[] = [];
  for (const turn of turns) {
    if (turn.content.length === 0) continue;
    const last = joined.at(-1);
    if (last?.role === turn.role) last.content.push(...turn.content);
    else joined.push({ role: turn.role, content: [...turn.content] });
  }
  return joined;
}

/** Moves each tool result to the start of the user turn after its call, from wherever it was. */
function bringResultsHome(turns: readonly Turn[], { call, result }: Links): Turn[] {
  const homes = new Map<unknown, number>();
  const results = new Map<number, JsonObject[]>();
  const rest: Turn[] = turns.map((turn, index) => {
    if (turn.role === 'assistant') {
      for (const block of turn.content) {
        const id = call(block);
        if (id !== undefined) homes.set(id, index);
      }
      return turn;
    }
    const others: JsonObject[] = [];
    for (const block of turn.content) {
      const id = result(block);
      const home = id === undefined ? undefined : (homes.get(id) ?? index - 1);
      if (home === undefined) others.push(block);
      else results.set(home, [...(results.get(home) ?? []), block]);
    }
    return { ...turn, content: others };
  });
  const orphans: Turn = { role: 'user', content: results.get(-1) ?? [] };
  return [
    orphans,
    ...rest.flatMap((turn, index): Turn[] => [turn, { role: 'user', content: results.get(index) ?? [] }]),
  ];
}
