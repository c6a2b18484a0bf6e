/** Bytes of the characters that HTTP's syntax is made of. */

export const TAB = 9;
export const LF = 10;
export const CR = 13;
export const SPACE = 32;
export const HASH = 35;
export const SLASH = 47;
export const ZERO = 48;
export const COLON = 58;
export const SEMICOLON = 59;
export const TILDE = 126;
export const DEL = 127;
