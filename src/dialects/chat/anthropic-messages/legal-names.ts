/** Ids and names of tools in the form this format demands: others are mapped, the same way every time. */
import { createHash } from 'node:crypto';

const LEGAL_ID = /^[a-zA-Z0-9_-]{1,64}$/;
const LEGAL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const ILLEGAL_CHARACTER = /[^a-zA-Z0-9_-]/g;
const KEPT_OF_NAME = 100;

export function legalToolId(id: string): string {
  return LEGAL_ID.test(id) ? id : `toolu_${digest(id).slice(0, 24)}`;
}

export function legalToolName(name: string): string {
  if (LEGAL_NAME.test(name)) return name;
  return `${name.replace(ILLEGAL_CHARACTER, '_').slice(0, KEPT_OF_NAME)}_${digest(name).slice(0, 8)}`;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
