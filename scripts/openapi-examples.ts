/**
 * `node bin/bun.mjs scripts/openapi-examples.ts`: runs every operation of the OpenAPI document against the sandbox, and stores the
 * responses as its examples.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startGateway } from '../test/helpers/gateway-process.ts';
import { type Example, ExampleValues } from '../test/openapi/example.ts';
import { readDocument, runOperations } from '../test/openapi/run.ts';
import { ROOT } from './source-files.ts';

const FILE = join(ROOT, 'src/http/openapi/replies.json');

const gateway = await startGateway();
try {
  const values = new ExampleValues(Date.now());
  const examples: { [id: string]: Example } = {};
  for (const ran of await runOperations(gateway, await readDocument(gateway), { isSettled: true })) {
    const id = ran.operation.operationId;
    if (ran.status >= 300 || id === 'getDescription') continue;
    examples[id] = { ...examples[id], ...values.of(ran) };
  }
  const sorted = Object.fromEntries(Object.entries(examples).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  const text = JSON.stringify(sorted, undefined, 2)
    .replaceAll(gateway.url, 'https://gateway.example')
    .replaceAll(`"${new URL(gateway.url).port}"`, '"8080"');
  writeFileSync(FILE, `${text}\n`);
  // In the format that the linter requires.
  Bun.spawnSync([process.execPath, 'node_modules/@biomejs/biome/bin/biome', 'format', '--write', FILE], { cwd: ROOT });
  console.log(`${Object.keys(examples).length} examples are in ${FILE}.`);
} finally {
  await gateway.stop();
}
