/** Ids and names of tools in the form this format demands: others are mapped, the same way every time. */
import { createHash } from 'node:crypto';

const LEGAL = /^[a-zA-Z0-9_-]{1,64}$/;
const ILLEGAL_CHARACTER = /[^a-zA-Z0-9_-]/g;
const KEPT_OF_NAME = 50;

export function legalToolId(id: string): string {
  return LEGAL.test(id) ? id : `tooluse_${digest(id).slice(0, 24)}`;
}

export function legalToolName(name: string): string {
  if (LEGAL.test(name)) return name;
  return `${name.replace(ILLEGAL_CHARACTER, '_').slice(0, KEPT_OF_NAME)}_${digest(name).slice(0, 8)}`;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
