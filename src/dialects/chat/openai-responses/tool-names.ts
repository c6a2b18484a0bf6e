/** Tool names and tool call ids in the form that OpenAI's Responses API requires. */
import { digestOf, legalName, type NameRules } from '../request/legal-names.ts';

const MAX_ID_LENGTH = 64;
const NAMES: NameRules = {
  legal: /^[a-zA-Z0-9_-]{1,64}$/,
  illegalCharacter: /[^a-zA-Z0-9_-]/g,
  kept: 50,
  encoding: 'hex',
};

export function legalCallId(id: string): string {
  return id !== '' && id.length <= MAX_ID_LENGTH ? id : `call_${digestOf(id, 'hex').slice(0, 24)}`;
}

export function legalToolName(name: string): string {
  return legalName(name, NAMES);
}
