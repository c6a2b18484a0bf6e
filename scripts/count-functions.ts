/**
 * Preloaded into a gateway by `call-footprint.ts`: notes each function of `src/` that is called, and reports them on request.
 * Each function's first statement becomes a note of its number; nothing else of the code is changed.
 */
import { relative } from 'node:path';
import { isNode, lineAt, parse, type SyntaxNode, walkSyntax } from './syntax.ts';

/** A function by its place, `gateway/serve.ts:42`. */
type Place = string;

const places: Place[] = [];
const called = new Set<number>();
const NOTE = '__noteCall';
const SOURCES = new URL('../src/', import.meta.url).pathname;

(globalThis as { [name: string]: unknown })[NOTE] = (number: number) => {
  called.add(number);
};

interface Insertion {
  at: number;
  text: string;
}

/** The source with a note at the start of each function. */
export function withNotes(path: string, source: string, numberOf: (line: number) => number): string {
  const insertions: Insertion[] = [];
  walkSyntax(parse(path, source).program, (node) => {
    const body = bodyOf(node);
    if (!body) return;
    const note = `${NOTE}(${numberOf(lineAt(source, node.start))})`;
    if (body.type === 'BlockStatement' || body.type === 'FunctionBody')
      insertions.push({ at: body.start + 1, text: `${note};` });
    else insertions.push({ at: body.start, text: `(${note},` }, { at: body.end, text: ')' });
  });
  let noted = '';
  let from = 0;
  for (const { at, text } of insertions.toSorted((one, other) => one.at - other.at)) {
    noted += source.slice(from, at) + text;
    from = at;
  }
  return noted + source.slice(from);
}

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);

function bodyOf({ type, body }: SyntaxNode): SyntaxNode | undefined {
  return FUNCTIONS.has(type) && isNode(body) ? body : undefined;
}

function preload(): void {
  Bun.plugin({
    name: 'count-functions',
    setup(build) {
      build.onLoad({ filter: /\/src\/.*\.ts$/ }, async ({ path }) => {
        const source = await Bun.file(path).text();
        if (!path.startsWith(SOURCES)) return { contents: source, loader: 'ts' };
        const numberOf = (line: number) => places.push(`${relative(SOURCES, path)}:${line}`) - 1;
        return { contents: withNotes(path, source, numberOf), loader: 'ts' };
      });
    },
  });
  process.on('message', (message) => {
    if (message === 'forget') called.clear();
    process.send?.([...called].map((number) => places[number]));
  });
}

if (process.send) preload();
