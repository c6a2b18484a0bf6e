/** Tool names and tool call ids in the form that Bedrock requires. */
import { digestOf, legalName, type NameRules } from '../request/legal-names.ts';

const NAMES: NameRules = {
  legal: /^[a-zA-Z0-9_-]{1,64}$/,
  illegalCharacter: /[^a-zA-Z0-9_-]/g,
  kept: 50,
  encoding: 'base64url',
};

export function legalToolId(id: string): string {
  return NAMES.legal.test(id) ? id : `tooluse_${digestOf(id, 'base64url').slice(0, 24)}`;
}

export function legalToolName(name: string): string {
  return legalName(name, NAMES);
}
