/** Tool names and tool call ids in the form that OpenAI's Responses API requires. */
import { digestOf, legalNames } from '../request/legal-names.ts';

const MAX_ID_LENGTH = 64;

export function legalCallId(id: string): string {
  return id !== '' && id.length <= MAX_ID_LENGTH ? id : `call_${digestOf(id, 'hex').slice(0, 24)}`;
}

export const legalToolName = legalNames({
  legal: /^[a-zA-Z0-9_-]{1,64}$/,
  kept: 50,
  encoding: 'hex',
});
