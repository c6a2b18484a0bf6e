/** Tool names and tool call ids in the form that Bedrock requires. */
import { digestOf, legalNames } from '../request/legal-names.ts';

const LEGAL = /^[a-zA-Z0-9_-]{1,64}$/;

export function legalToolId(id: string): string {
  return LEGAL.test(id) ? id : `tooluse_${digestOf(id, 'base64url').slice(0, 24)}`;
}

export const legalToolName = legalNames({
  legal: LEGAL,
  kept: 50,
  encoding: 'base64url',
});
