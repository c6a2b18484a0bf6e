/** Ids and names of tools in the form this format demands: others are mapped, the same way every time. */
import type { Tool } from '../../../canonical/call.ts';

const MAX_ID_LENGTH = 64;
const LEGAL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const ILLEGAL_CHARACTER = /[^a-zA-Z0-9_-]/g;
const KEPT_OF_NAME = 50;

export function legalCallId(id: string): string {
  return id !== '' && id.length <= MAX_ID_LENGTH ? id : `call_${digest(id).slice(0, 24)}`;
}

export function legalToolName(name: string): string {
  if (LEGAL_NAME.test(name)) return name;
  return `${name.replace(ILLEGAL_CHARACTER, '_').slice(0, KEPT_OF_NAME)}_${digest(name).slice(0, 8)}`;
}

/** From the names the provider was told to those the client knows; only where they differ. */
export function publicToolNames(tools: readonly Tool[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const tool of tools) {
    if (tool.type !== 'function' && tool.type !== 'custom') continue;
    const legal = legalToolName(tool.name);
    if (legal !== tool.name) names.set(legal, tool.name);
  }
  return names;
}

/** Hex is legal everywhere. */
export function digest(text: string): string {
  return new Bun.CryptoHasher('sha256').update(text).digest('hex');
}
