/** Tool names and tool call ids in the form that Anthropic's API requires. */
import { digestOf, legalNames } from '../request/legal-names.ts';

const LEGAL_ID = /^[a-zA-Z0-9_-]{1,64}$/;

export function legalToolId(id: string): string {
  return LEGAL_ID.test(id) ? id : `toolu_${digestOf(id, 'base64url').slice(0, 24)}`;
}

export const legalToolName = legalNames({
  legal: /^[a-zA-Z0-9_-]{1,128}$/,
  kept: 100,
  encoding: 'base64url',
});
