/** Maps tool names and tool call ids to the form that a format requires. The same input always gives the same result. */
import { createHash } from 'node:crypto';
import type { Tool } from '../../../canonical/call.ts';

/** Which names a format accepts, and how others are changed. */
export interface NameRules {
  readonly legal: RegExp;
  /** Replaced by `_`; a global expression. Default: all but ASCII letters, digits, `_` and `-`. */
  readonly illegalCharacter?: RegExp;
  /** How many characters of a name are kept before its digest. */
  readonly kept: number;
  /** Put before a changed name. */
  readonly prefix?: string;
  /** The encoding of the digest. */
  readonly encoding: 'hex' | 'base64url';
}

const DIGEST_LENGTH = 8;
const ILLEGAL = /[^a-zA-Z0-9_-]/g;

/** The function that returns a name as it is where the rules allow it, and changed otherwise. */
export function legalNames(rules: NameRules): (name: string) => string {
  const { legal, illegalCharacter = ILLEGAL, kept, prefix = '', encoding } = rules;
  return (name) => {
    if (legal.test(name)) return name;
    const start = name.replace(illegalCharacter, '_').slice(0, kept);
    return `${prefix}${start}_${digestOf(name, encoding).slice(0, DIGEST_LENGTH)}`;
  };
}

/** The SHA-256 of a text. */
export function digestOf(text: string, encoding: NameRules['encoding']): string {
  return createHash('sha256').update(text).digest(encoding);
}

/** A tool as the client declared it. */
export interface ClientTool {
  readonly name: string;
  /** It takes free text. */
  readonly isCustom: boolean;
}

const NO_TOOLS: ReadonlyMap<string, ClientTool> = new Map();

/** The client's tools by the names sent to the provider; only custom tools and those whose names were changed. */
export function clientTools(
  tools: readonly Tool[],
  legalToolName: (name: string) => string,
): ReadonlyMap<string, ClientTool> {
  let known: Map<string, ClientTool> | undefined;
  for (const tool of tools) {
    if (tool.type !== 'function' && tool.type !== 'custom') continue;
    const name = legalToolName(tool.name);
    const isCustom = tool.type === 'custom';
    if (!isCustom && name === tool.name) continue;
    known ??= new Map();
    known.set(name, { name: tool.name, isCustom });
  }
  return known ?? NO_TOOLS;
}
