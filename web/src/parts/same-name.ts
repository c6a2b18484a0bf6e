/** Names have characters that nobody sees or can type. Pure. */
import { DIRECTIONS } from './names.ts';

/** As a person can see and type it. */
const typable = (name: string) =>
  name
    .replace(DIRECTIONS, '')
    .normalize('NFC')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();

/** Whether this was typed for that name: spaces at its ends, two in a row and control characters do not show, and a field cannot have all of them. */
export const isSameName = (typed: string, name: string): boolean => typable(typed) === typable(name);
