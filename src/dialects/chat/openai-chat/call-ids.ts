/** Maps tool call ids to the form that a provider requires. The same id is always mapped to the same one. */
import type { Quirks } from '../../shared/quirks.ts';
import { digestOf } from '../request/legal-names.ts';

const NINE = /^[a-zA-Z0-9]{9}$/;
const MAX_LENGTH = 64;

export function callIds(quirks: Quirks): (id: string) => string {
  if (quirks.requiresToolCallIds === 'nine-alphanumeric')
    return (id) => (NINE.test(id) ? id : digestOf(id, 'hex').slice(0, 9));
  return (id) => (id !== '' && id.length <= MAX_LENGTH ? id : `call_${digestOf(id, 'hex').slice(0, 24)}`);
}
