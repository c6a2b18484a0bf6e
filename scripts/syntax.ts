/** Parses a file and walks its syntax tree. */
import { type EcmaScriptModule, parseSync } from 'oxc-parser';

/** Any node of the tree. */
export interface SyntaxNode {
  type: string;
  start: number;
  end: number;
  [member: string]: unknown;
}

export interface Syntax {
  program: SyntaxNode;
  module: EcmaScriptModule;
}

/** Throws an Error if the file is not valid TypeScript. */
export function parse(path: string, text: string): Syntax {
  const { program, module, errors } = parseSync(path, text);
  const [error] = errors;
  if (error) throw new Error(`${path}: ${error.message}`);
  return { program: program as unknown as SyntaxNode, module };
}

/** Calls `visit` for every node, parents first, with the node's ancestors (nearest last). */
export function walkSyntax(
  node: SyntaxNode,
  visit: (node: SyntaxNode, around: readonly SyntaxNode[]) => void,
  around: SyntaxNode[] = [],
): void {
  visit(node, around);
  around.push(node);
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (isNode(child)) walkSyntax(child, visit, around);
    }
  }
  around.pop();
}

export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && typeof (value as SyntaxNode).type === 'string';
}

/** The line (from 1) of an offset. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line++;
  return line;
}
