/**
 * Checks that text and code use the words of docs/glossary.md: retired words must not occur in documents, nor in sentences of src/ that
 * users may read (errors, warnings, command line, descriptions), nor as parts of names in the code. `retired-words.json` lists them.
 * Decisions are history and exempt.
 */
import { parseSync } from 'oxc-parser';
import retired from './retired-words.json' with { type: 'json' };
import { type Fault, isTest, listFiles, readFiles, readSources, report, type SourceFile } from './source-files.ts';
import { lineAt, parse, walkSyntax } from './syntax.ts';

export interface Retired {
  /** A regular expression for the complete word. */
  word: string;
  /** Whether it is also retired in names of the code, or only there; `src`: only there, and tests may have it. */
  names?: boolean | 'only' | 'src';
  instead: string;
}

/** Decisions are history. */
const EXEMPT = ['docs/decisions/'];
const DOCUMENTS = ['README.md', 'CHANGELOG.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md'];
/** Names in stored rows, which older gateways read during an upgrade, and in settings. The tests of these files have them too. */
const STORED_NAMES: { readonly [path: string]: readonly string[] } = {
  'src/config/settings.ts': ['MODELPORT_KEEP_PROOFS_HOURS'],
  'src/conversations/turn-signatures.ts': ['maker', 'seal'],
  'src/store/tables/kept-tables.ts': ['maker'],
  'src/tasks/finish.ts': ['told'],
  'src/tasks/task.ts': ['door', 'film', 'pictures', 'told'],
  // The stored member of a task.
  'src/tasks/step.ts': ['told'],
  'src/tasks/webhook.ts': ['told'],
};
/** Database statements in SQL and Lua. */
const STATEMENT = /\b(SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|local|ARGV)\b/;

export function wordFaults(
  documents: readonly SourceFile[],
  sources: readonly SourceFile[],
  words: readonly Retired[],
): Fault[] {
  const inText = words.filter(({ names }) => names !== 'only' && names !== 'src');
  const inNames = words.filter(({ names }) => names);
  const inTests = inNames.filter(({ names }) => names !== 'src');
  return [
    ...documents.flatMap((file) => faultsIn(file, proseOf(file.text), inText)),
    ...sources.flatMap((file) => (isForUsers(file) ? faultsIn(file, sentencesOf(file), inText) : [])),
    // `src/http1/` knows nothing of models and money: there these words have their ordinary meaning.
    ...sources.flatMap((file) =>
      file.path.startsWith('src/http1/') ? [] : faultsIn(file, namesOf(file), isOfSource(file) ? inNames : inTests),
    ),
  ];
}

const isOfSource = ({ path }: SourceFile) => /^(web\/)?src\//.test(path) && !isTest(path);

/** Sentences of tests and fuzzers reach no user. */
function isForUsers({ path }: SourceFile): boolean {
  return /^(web\/)?src\//.test(path) && !isTest(path) && !path.includes('/fuzz/');
}

interface Line {
  line: number;
  text: string;
}

function faultsIn({ path }: SourceFile, lines: Iterable<Line>, words: readonly Retired[]): Fault[] {
  const faults: Fault[] = [];
  const any = wholeWord(words.map(({ word }) => word).join('|'));
  const each = words.map(({ word, instead }) => ({ pattern: wholeWord(word), instead }));
  for (const { line, text } of lines) {
    // Nearly all lines have none of them.
    if (!any.test(text)) continue;
    for (const { pattern, instead } of each) {
      const [found] = pattern.exec(text) ?? [];
      if (found !== undefined) faults.push(`${path}:${line}: says "${found}": write ${instead}`);
    }
  }
  return faults;
}

const wholeWord = (word: string) => new RegExp(`(?<![\\w-])(${word})(?![\\w-])`, 'i');

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

/** Names in a source file, as the words they consist of: `firstToken` is `first token`. */
function* namesOf({ path, text }: SourceFile): Generator<Line> {
  const names = new Map<string, number>();
  const stored = STORED_NAMES[path.replace('.test.ts', '.ts')] ?? [];
  walkSyntax(parse(path, text).program, ({ type, name, start }) => {
    if ((type === 'Identifier' || type === 'PrivateIdentifier') && typeof name === 'string' && !names.has(name))
      names.set(name, start);
  });
  for (const [name, at] of names) {
    if (stored.includes(name)) continue;
    yield { line: lineAt(text, at), text: name.replaceAll(/_|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, ' ') };
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

/** What is wrong in the repository's documents, and in the sentences and names of its code. */
export function publicWordFaults(): Fault[] {
  const pages = listFiles(['docs']).filter(
    (path) => path.endsWith('.md') && !EXEMPT.some((part) => path.startsWith(part)),
  );
  const sources = readSources(['src', 'web/src', 'test', 'scripts', 'bench']);
  return wordFaults(readFiles([...DOCUMENTS, ...pages]), sources, retired as Retired[]);
}

if (import.meta.main) report('words', publicWordFaults());
