/** Checks sizes: functions up to 70 lines without nested ones, files up to 400, a dialect's reader or writer up to 500. */
import { type Fault, isTest, readSources, report, type SourceFile } from './source-files.ts';
import { lineAt, parse, type SyntaxNode, walkSyntax } from './syntax.ts';

const FUNCTION_LINES = 70;
const FILE_LINES = 400;
const CODEC_LINES = 500;
const CODEC = /^src\/dialects\/[^/]+\/[^/]*(reader|writer|read|write)[^/]*\.ts$/;

/** Exceptions, each with a reason: `path` or `path#function`, and its limit. */
const EXCEPTIONS: { readonly [place: string]: number } = {};

const FUNCTION_KINDS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);

export function sizeFaults(files: readonly SourceFile[], exceptions = EXCEPTIONS): Fault[] {
  const faults: Fault[] = [];
  for (const { path, text } of files) {
    const lines = text.split('\n').length - 1;
    const bound = exceptions[path] ?? (CODEC.test(path) ? CODEC_LINES : FILE_LINES);
    if (lines > bound) faults.push(`${path}: ${lines} lines, at most ${bound}: move a part of it to another file`);
    // The callback of a suite is as long as its tests.
    if (!isTest(path)) faults.push(...functionFaults(path, text, exceptions));
  }
  return faults;
}

function functionFaults(path: string, text: string, exceptions: typeof EXCEPTIONS): Fault[] {
  const faults: Fault[] = [];
  const ownLines = new Map<SyntaxNode, number>();
  const names = new Map<SyntaxNode, string>();
  walkSyntax(parse(path, text).program, (node, around) => {
    if (!FUNCTION_KINDS.has(node.type)) return;
    const lines = lineAt(text, node.end) - lineAt(text, node.start) + 1;
    ownLines.set(node, lines);
    names.set(node, nameOf(node, around.at(-1)));
    // Nested functions count for themselves, not for the outer one.
    const outer = around.findLast((candidate) => FUNCTION_KINDS.has(candidate.type));
    if (outer && lines > 1) ownLines.set(outer, (ownLines.get(outer) ?? 0) - lines);
  });
  for (const [node, lines] of ownLines) {
    const name = names.get(node);
    const bound = exceptions[`${path}#${name}`] ?? FUNCTION_LINES;
    if (lines > bound) faults.push(`${path}:${lineAt(text, node.start)}: ${name} has ${lines} lines, at most ${bound}`);
  }
  return faults;
}

/** The name by which a reader refers to the function. */
function nameOf(node: SyntaxNode, parent: SyntaxNode | undefined): string {
  for (const candidate of [node.id, parent?.id, parent?.key]) {
    const name = (candidate as { name?: unknown } | undefined | null)?.name;
    if (typeof name === 'string') return name;
  }
  return 'a function';
}

if (import.meta.main) report('sizes', sizeFaults(readSources(['src', 'web', 'scripts', 'bench', 'test'])));
