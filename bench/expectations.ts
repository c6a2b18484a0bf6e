/** The scale guide's table of what to expect, from the costs of a call and of a chunk that a run has measured. Pure functions. */
import type { GatewayResult } from './figures.ts';

const FROM = '<!-- written by npm run bench -- --write-docs -->';
const TO = '<!-- end of what it wrote -->';
/** Of a streamed reply. */
const CHUNKS = 100;

const SUGGESTIONS: readonly { calls: number; suggestion: string }[] = [
  { calls: 1, suggestion: 'one process, SQLite, 0.25 GB of memory' },
  { calls: 10, suggestion: 'the same' },
  { calls: 100, suggestion: 'one process, or two for restarts without a pause' },
  { calls: 1000, suggestion: 'four processes, or two machines with two; Postgres and Redis' },
];
const STREAMS = 10_000;
const STREAMS_SUGGESTION = 'four processes, 1 GB of memory in total; two open files for each stream (`ulimit -n`)';

/** Cores in words. */
export function coresText(cores: number): string {
  if (cores < 0.01) return 'below 1 % of a core';
  return cores < 1 ? `${Math.round(cores * 100)} % of a core` : `${cores.toFixed(1)} cores`;
}

const milliseconds = (us: number): string => `${(us / 1000).toFixed(2)} ms`;

/** The sentence and the table, or nothing if the run did not measure them. */
export function writeExpectations(gateways: readonly GatewayResult[]): string | undefined {
  const figures = (name: string) => gateways.find((gateway) => gateway.name === name)?.figures;
  const own = figures('modelport');
  if (!own) return undefined;
  const shared = figures('modelport-shared')?.totalCpuPerRequestUs;
  const [call, chunk] = [own.totalCpuPerRequestUs / 1e6, own.cpuPerChunkUs / 1e6];
  const onPostgres = shared === undefined ? '' : ` and ${milliseconds(shared)} on Postgres with Redis`;
  const rows = SUGGESTIONS.map(({ calls, suggestion }) => {
    const most = Math.max(call, (shared ?? 0) / 1e6);
    const plain = [...new Set([coresText(calls * call), coresText(calls * most)])].join(' to ');
    const streamed = coresText(calls * (call + CHUNKS * chunk));
    const name = `${calls.toLocaleString('en')} call${calls === 1 ? '' : 's'} a second`;
    return `| ${name} | ${plain}; with ${CHUNKS} chunks a reply ${streamed} | ${suggestion} |`;
  });
  const open = `1 chunk a second in each: ${coresText(STREAMS * chunk)}; 10 chunks: ${coresText(STREAMS * 10 * chunk)}`;
  return [
    `A call takes ${milliseconds(own.totalCpuPerRequestUs)} of processor time on SQLite${onPostgres}; a streamed chunk takes ${milliseconds(own.cpuPerChunkUs)}.`,
    '',
    '| load | processor time | suggestion |',
    '|---|---|---|',
    ...rows,
    `| ${STREAMS.toLocaleString('en')} open streams | ${open} | ${STREAMS_SUGGESTION} |`,
  ].join('\n');
}

/** The page with the text between its two marks replaced. Throws an Error if it lacks them. */
export function putBetweenMarks(page: string, text: string): string {
  const [from, to] = [page.indexOf(FROM), page.indexOf(TO)];
  if (from < 0 || to < from) throw new Error(`the page does not have "${FROM}" before "${TO}"`);
  return `${page.slice(0, from)}${FROM}\n\n${text}\n\n${page.slice(to)}`;
}
