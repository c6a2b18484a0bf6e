/**
 * `node bin/bun.mjs scripts/sandbox/record.ts [FORMAT]`: asks the sandbox in every format it speaks, or in this one, and stores requests
 * and replies in `test/recordings/` with their rows of the manifest. Other rows stay as they are. Run it after a change of what the
 * sandbox answers. Ids are new in each run: accept the digests afterwards (`npm run conformance -- --accept`).
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import type { OwnRecording } from '../../test/helpers/fixtures.ts';
import { ROOT } from '../source-files.ts';
import { SCENARIOS, type Scenario } from './scenarios.ts';

const FOLDER = join(ROOT, 'test/recordings');
const MANIFEST = join(FOLDER, 'manifest.json');
const SOURCE = 'scripts/sandbox/record.ts';
const ORIGIN = 'http://sandbox.invalid';
/** A moment that all recordings share: the replies' times are no news in a diff. */
const RECORDED_AT = Date.UTC(2026, 10, 22, 12);

const sandbox = createSandbox({ tokenMs: 0, now: () => RECORDED_AT });

async function record(scenario: Scenario): Promise<OwnRecording> {
  const { wire, name, path, body, features } = scenario;
  const isForm = body instanceof FormData;
  const response = await sandbox(await requestOf(path, body));
  const bytes = new Uint8Array(await response.arrayBuffer());
  const contentType = response.headers.get('content-type') ?? '';
  const stream = contentType.includes('event-stream');
  const file = `${wire}/sandbox-${name}.${endingOf(contentType)}`;
  keep(file, bytes);
  // A form's bytes differ with each boundary: only JSON is kept.
  const requestFile = `${wire}/sandbox-${name}.request.json`;
  if (!isForm) keep(requestFile, Buffer.from(`${JSON.stringify(body)}\n`));
  return {
    file,
    ...(!isForm && { request_file: requestFile }),
    provider: 'sandbox',
    wire,
    endpoint: `POST ${path}`,
    stream,
    status: response.status,
    features: [...features],
    provenance: 'sandbox',
    source: SOURCE,
    date: new Date(RECORDED_AT).toISOString().slice(0, 10),
    ...(!/json|event-stream/.test(contentType) && { response_headers: { 'content-type': contentType } }),
  };
}

async function requestOf(path: string, body: object): Promise<Request> {
  // A form's type names its boundary, and is known once it is written.
  const written = body instanceof FormData ? new Response(body) : Response.json(body);
  const headers = { 'content-type': written.headers.get('content-type') ?? '', 'anthropic-version': '2023-06-01' };
  return new Request(ORIGIN + path, { method: 'POST', headers, body: await written.arrayBuffer() });
}

function endingOf(contentType: string): string {
  if (contentType.includes('event-stream')) return 'sse.txt';
  if (contentType.includes('json')) return 'json';
  return contentType.startsWith('audio/') ? 'bin' : 'txt';
}

function keep(file: string, bytes: Uint8Array): void {
  const path = join(FOLDER, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
}

if (import.meta.main) {
  const manifest: { about: string; entries: OwnRecording[] } = JSON.parse(readFileSync(MANIFEST, 'utf8'));
  const [format] = process.argv.slice(2);
  const isMeant = ({ wire }: { wire: string }) => format === undefined || wire === format;
  for (const file of readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }))
    if (/[\\/]sandbox-[^\\/]+$/.test(file) && isMeant({ wire: dirname(file) })) rmSync(join(FOLDER, file));
  const recorded: OwnRecording[] = [];
  for (const scenario of SCENARIOS.filter(isMeant)) recorded.push(await record(scenario));
  const others = manifest.entries.filter((entry) => entry.provenance !== 'sandbox' || !isMeant(entry));
  const entries = [...others, ...recorded].toSorted((a, b) => (a.file < b.file ? -1 : 1));
  const rows = entries.map((entry) => `    ${JSON.stringify(entry)}`).join(',\n');
  writeFileSync(MANIFEST, `{\n  "about": ${JSON.stringify(manifest.about)},\n  "entries": [\n${rows}\n  ]\n}\n`);
  console.log(`${recorded.length} recordings made, ${others.length} kept`);
}
