/**
 * `node bin/bun.mjs scripts/openapi-examples.ts`: runs every operation of the OpenAPI document against the sandbox, and stores the
 * responses as its examples.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json } from '../src/canonical/json.ts';
import { startGateway } from '../test/helpers/gateway-process.ts';
import { type Ran, readDocument, runOperations } from '../test/openapi/run.ts';
import { ROOT } from './source-files.ts';

const FILE = join(ROOT, 'src/http/openapi/replies.json');
const LONGEST_TEXT = 120;
const LONGEST_LIST = 2;
/** Members that are secrets. */
const SECRETS: { readonly [member: string]: string } = {
  key: 'sk-example',
  code: 'mp-4J7K-9Q2M-XW3T',
  secret: 'whsec_example',
  path: '/console/#link=example',
};

/** Shortens a value to a readable example. */
function shortened(value: Json, member = ''): Json {
  if (typeof value === 'string') {
    if (SECRETS[member] !== undefined && value.length > LONGEST_TEXT / 10) return SECRETS[member];
    return value.length > LONGEST_TEXT ? `${value.slice(0, LONGEST_TEXT)}…` : value;
  }
  if (Array.isArray(value)) return value.slice(0, LONGEST_LIST).map((one) => shortened(one));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shortened(inner, name)]));
}

/** An event that contains a part of the answer. */
function eventOf(events: readonly Json[]): Json | undefined {
  return events[Math.min(events.length - 1, 4)];
}

function exampleOf({ body, events }: Ran): { reply?: Json; event?: Json } {
  const event = events && eventOf(events);
  return {
    ...(body !== undefined && { reply: shortened(body) }),
    ...(event !== undefined && { event: shortened(event) }),
  };
}

const gateway = await startGateway();
try {
  const examples: { [id: string]: { reply?: Json; event?: Json } } = {};
  for (const ran of await runOperations(gateway, await readDocument(gateway))) {
    const id = ran.operation.operationId;
    if (ran.status >= 300 || id === 'getDescription') continue;
    examples[id] = { ...examples[id], ...exampleOf(ran) };
  }
  const text = JSON.stringify(examples, undefined, 2).replaceAll(gateway.url, 'https://gateway.example');
  writeFileSync(FILE, `${text}\n`);
  // In the format that the linter requires.
  Bun.spawnSync([process.execPath, 'node_modules/@biomejs/biome/bin/biome', 'format', '--write', FILE], { cwd: ROOT });
  console.log(`${Object.keys(examples).length} examples are in ${FILE}.`);
} finally {
  await gateway.stop();
}
