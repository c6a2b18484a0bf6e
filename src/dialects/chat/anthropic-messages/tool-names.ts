/** Tool names and tool call ids in the form that Anthropic's API requires. */
import { digestOf, legalName, type NameRules } from '../request/legal-names.ts';

const LEGAL_ID = /^[a-zA-Z0-9_-]{1,64}$/;
const NAMES: NameRules = {
  legal: /^[a-zA-Z0-9_-]{1,128}$/,
  illegalCharacter: /[^a-zA-Z0-9_-]/g,
  kept: 100,
  encoding: 'base64url',
};

export function legalToolId(id: string): string {
  return LEGAL_ID.test(id) ? id : `toolu_${digestOf(id, 'base64url').slice(0, 24)}`;
}

export function legalToolName(name: string): string {
  return legalName(name, NAMES);
}
