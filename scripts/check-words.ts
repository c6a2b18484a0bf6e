/**
 * Checks that public text uses the words of docs/glossary.md: retired words must not occur in documents, nor in sentences of src/ that
 * users may read (errors, warnings, command line, descriptions). `retired-words.json` lists them. Decisions and the changelog are history
 * and exempt.
 */
import { parseSync } from 'oxc-parser';
import retired from './retired-words.json' with { type: 'json' };
import { type Fault, isTest, listFiles, readFiles, readSources, report, type SourceFile } from './source-files.ts';

export interface Retired {
  /** A regular expression for the complete word. */
  word: string;
  instead: string;
}

/** Decisions are history; a script writes conformance.md with labels of the code. */
const EXEMPT = ['docs/decisions/', 'docs/reference/conformance.md'];
const DOCUMENTS = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md'];
/** Database statements in SQL and Lua. */
const STATEMENT = /\b(SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|local|ARGV)\b/;

export function wordFaults(
  documents: readonly SourceFile[],
  sources: readonly SourceFile[],
  words: readonly Retired[],
): Fault[] {
  return [
    ...documents.flatMap((file) => faultsIn(file, proseOf(file.text), words)),
    ...sources.flatMap((file) => faultsIn(file, sentencesOf(file), words)),
  ];
}

interface Line {
  line: number;
  text: string;
}

function faultsIn({ path }: SourceFile, lines: Iterable<Line>, words: readonly Retired[]): Fault[] {
  const faults: Fault[] = [];
  for (const { line, text } of lines) {
    for (const { word, instead } of words) {
      const [found] = new RegExp(`(?<![\\w-])(${word})(?![\\w-])`, 'i').exec(text) ?? [];
      if (found !== undefined) faults.push(`${path}:${line}: says "${found}": write ${instead}`);
    }
  }
  return faults;
}

/** A document without its examples, names in backticks, and URLs. */
function* proseOf(text: string): Generator<Line> {
  let fenced = false;
  for (const [index, line] of text.split('\n').entries()) {
    if (/^\s*```/.test(line)) fenced = !fenced;
    else if (!fenced) yield { line: index + 1, text: line.replaceAll(/`[^`]*`/g, '').replaceAll(/\]\([^)]*\)/g, ']') };
  }
}

/** Texts of several words in a source file. */
function* sentencesOf({ path, text }: SourceFile): Generator<Line> {
  const found: { at: number; text: string }[] = [];
  collect(parseSync(path, text).program, found);
  for (const sentence of found) {
    if (!/\S\s+\S/.test(sentence.text) || STATEMENT.test(sentence.text)) continue;
    const line = text.slice(0, sentence.at).split('\n').length;
    yield { line, text: sentence.text.replaceAll(/`[^`]*`/g, '') };
  }
}

function collect(node: unknown, found: { at: number; text: string }[]): void {
  if (Array.isArray(node)) for (const one of node) collect(one, found);
  else if (typeof node === 'object' && node !== null) {
    const { type, value, start } = node as { type?: string; value?: unknown; start?: number };
    if (type === 'Literal' && typeof value === 'string') found.push({ at: start ?? 0, text: value });
    if (type === 'TemplateElement') found.push({ at: start ?? 0, text: (value as { cooked: string }).cooked });
    for (const child of Object.values(node)) if (typeof child === 'object') collect(child, found);
  }
}

/** What is wrong in the repository's documents and in the sentences of its code. */
export function publicWordFaults(): Fault[] {
  const pages = listFiles(['docs']).filter(
    (path) => path.endsWith('.md') && !EXEMPT.some((part) => path.startsWith(part)),
  );
  const sources = readSources(['src']).filter(({ path }) => !isTest(path) && !path.includes('/fuzz/'));
  return wordFaults(readFiles([...DOCUMENTS, ...pages]), sources, retired);
}

if (import.meta.main) report('words', publicWordFaults());
