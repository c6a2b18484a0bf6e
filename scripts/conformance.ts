/** `npm run conformance`: reports how much of the golden grid is correct, shows a translation, accepts changes, and writes the document. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { acceptDigests, acceptedDigests, changesIn, digestsOf, withOthers } from '../test/conformance/digests.ts';
import { type Grid, matrixOf, runGrid, summaryOf, writeGrid, writeMatrix } from '../test/conformance/grid.ts';
import { hasFixtures } from '../test/helpers/fixtures.ts';
import { ROOT } from './source-files.ts';

const USAGE = `npm run conformance                                  the matrix: how much is right
npm run conformance -- --write                       the same, into docs/reference/conformance.md
npm run conformance -- --show FILE [--as FORMAT]     the translations of one recording
npm run conformance -- --accept                      takes the translations as they are now for the right ones`;
const DOCUMENT = join(ROOT, 'docs/reference/conformance.md');

export type Order = { kind: 'print' | 'write' | 'accept' } | { kind: 'show'; file: string; as?: string };

/** The command in the arguments, or `undefined` if they are invalid. */
export function orderOf(args: readonly string[]): Order | undefined {
  const [first, file, as, format] = args;
  if (first === undefined) return { kind: 'print' };
  if (first === '--write' || first === '--accept')
    return args.length === 1 ? { kind: first === '--write' ? 'write' : 'accept' } : undefined;
  if (first !== '--show' || file === undefined) return undefined;
  if (as === undefined) return { kind: 'show', file };
  return as === '--as' && format !== undefined && args.length === 4 ? { kind: 'show', file, as: format } : undefined;
}

function show({ replies, requests }: Grid, file: string, as: string | undefined): number {
  const isMeant = (one: Grid['replies'][number] | Grid['requests'][number]) =>
    one.source.recorded.file.includes(file) && (as === undefined || one.target.name === as);
  const found = [...requests.filter(isMeant), ...replies.filter(isMeant)];
  for (const one of found) {
    const way = 'stream' in one ? (one.stream ? 'reply, streamed' : 'reply, whole') : 'request';
    console.log(`── ${one.source.recorded.file} as ${one.target.name}: ${way}`);
    for (const warning of one.warnings) console.log(`   warning: ${warning}`);
    for (const fault of one.faults) console.log(`   FAULT: ${fault}`);
    if ('refused' in one && one.refused !== undefined) console.log(`   refused: ${one.refused}`);
    console.log(one.body);
  }
  if (found.length === 0) console.error(`no recording's name holds ${file}`);
  return found.length === 0 ? 1 : 0;
}

async function measure(order: 'print' | 'write'): Promise<number> {
  const grid = await runGrid();
  for (const { source, target, faults } of [...grid.replies, ...grid.requests]) {
    for (const fault of faults) console.log(`${source.recorded.file} as ${target.name}: ${fault}`);
  }
  const matrix = matrixOf(grid);
  console.log(order === 'print' ? writeMatrix(matrix) : summaryOf(matrix));
  if (order === 'write') writeFileSync(DOCUMENT, writeMatrix(matrix));
  return matrix.cells.passed === matrix.cells.all ? 0 : 1;
}

function accept(grid: Grid): number {
  const digests = digestsOf(grid);
  const changes = changesIn(digests, acceptedDigests());
  // Those of recordings that are not here stay.
  acceptDigests(hasFixtures ? digests : withOthers(digests, acceptedDigests()));
  console.log(`${changes.length} translations accepted as they are now`);
  return 0;
}

async function run(order: Order): Promise<number> {
  switch (order.kind) {
    case 'show':
      return show(writeGrid(), order.file, order.as);
    case 'accept':
      return accept(writeGrid());
    case 'print':
    case 'write':
      return await measure(order.kind);
    default:
      return order satisfies never;
  }
}

if (import.meta.main) {
  const order = orderOf(process.argv.slice(2));
  if (!order || (order.kind === 'write' && !hasFixtures)) {
    console.error(order ? 'The document counts all recordings: MODELPORT_FIXTURES must name their folder.' : USAGE);
    process.exit(2);
  }
  process.exit(await run(order));
}
