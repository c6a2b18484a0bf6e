/** Tool names in the form that Gemini requires, and ids for its tool calls, which often have none. */
import { digestOf, legalNames } from '../request/legal-names.ts';

/** Makes the id of a call. The same call always gets the same id: `turn` and `choice` identify the reply, `index` the call in it. */
export function mintCallId(turn: number, choice: number, index: number, name: string): string {
  return `call_${digestOf(`${turn}/${choice}/${index}/${name}`, 'hex').slice(0, 24)}`;
}

export const legalToolName = legalNames({
  legal: /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/,
  illegalCharacter: /[^a-zA-Z0-9_.:-]/g,
  kept: 50,
  prefix: '_',
  encoding: 'hex',
});
