/** Ids and names of tools: minted where this format leaves them out, mapped where it does not take them. */
import { createHash } from 'node:crypto';
import type { Tool } from '../../../canonical/call.ts';

const LEGAL_NAME = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/;
const ILLEGAL_CHARACTER = /[^a-zA-Z0-9_.:-]/g;
const KEPT_OF_NAME = 50;

/** A tool as the client knows it. */
export interface KnownTool {
  name: string;
  isCustom: boolean;
}

/** The same call has the same id however often it is read. `turn` and `choice` say which reply, `index` which call in it. */
export function mintCallId(turn: number, choice: number, index: number, name: string): string {
  return `call_${digest(`${turn}/${choice}/${index}/${name}`).slice(0, 24)}`;
}

export function legalToolName(name: string): string {
  if (LEGAL_NAME.test(name)) return name;
  return `_${name.replace(ILLEGAL_CHARACTER, '_').slice(0, KEPT_OF_NAME)}_${digest(name).slice(0, 8)}`;
}

/** The client's tools by the names this format has for them; only those that are not what they are called here. */
export function knownTools(tools: readonly Tool[]): ReadonlyMap<string, KnownTool> {
  const known = new Map<string, KnownTool>();
  for (const tool of tools) {
    if (tool.type !== 'function' && tool.type !== 'custom') continue;
    const name = legalToolName(tool.name);
    const isCustom = tool.type === 'custom';
    if (isCustom || name !== tool.name) known.set(name, { name: tool.name, isCustom });
  }
  return known;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
