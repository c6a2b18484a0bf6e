/** Turns as formats of alternating roles want them: joined, and every call's results at once in the turn after it. */
import type { Json, JsonObject } from '../../../canonical/json.ts';

export type Turn = {
  role: 'user' | 'assistant' | 'system';
  content: JsonObject[];
};

/** How a format's blocks name the call that they make, or that they are the result of. */
export interface Links {
  call(block: JsonObject): Json | undefined;
  result(block: JsonObject): Json | undefined;
}

/** Turns that alternate, each call's result first in the user's turn right after it. */
export function alternating(turns: readonly Turn[], links: Links): Turn[] {
  const joined = joinTurns(turns);
  return joined.some((turn) => holdsResult(turn, links)) ? joinTurns(bringResultsHome(joined, links)) : joined;
}

function holdsResult({ role, content }: Turn, { result }: Links): boolean {
  if (role !== 'assistant') for (const block of content) if (result(block) !== undefined) return true;
  return false;
}

/** Drops empty turns and joins neighbours of one role. */
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

/** Puts each call's result first into the user's turn right after it, wherever it stood. */
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
