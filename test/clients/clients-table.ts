/** Makes the table in docs/reference/clients.md from the matrices that the suites run. */
import { casesOf, MATRIX, type MatrixFormat, versionsOf } from './matrix-client.ts';
import { PYTHON_MATRIX, pythonVersionsOf } from './python-client.ts';

const FORMAT_NAMES: { readonly [format in MatrixFormat]: string } = {
  'openai-chat': 'Chat Completions',
  'openai-responses': 'Responses',
  'anthropic-messages': 'Messages',
  gemini: 'generateContent',
};

/** The table for docs/reference/clients.md. */
export function clientsTable(): string {
  const clients = [
    ...MATRIX.map((row) => [row, versionsOf(row)] as const),
    ...PYTHON_MATRIX.libraries.map((row) => [row, pythonVersionsOf(row, 'libraries')] as const),
    ...PYTHON_MATRIX.litellm.map((row) => [row, pythonVersionsOf(row, 'litellm')] as const),
  ];
  const rows = clients.map(([row, versions]) => {
    const loop = row.wholeCallsOnly ? 'tool loop (non-streaming)' : 'tool loop';
    const run = ['text', 'stream', loop, ...(row.structured ? ['structured output'] : []), 'errors'];
    const cases = row.formats.reduce((sum, format) => sum + casesOf(row, format).length, 0);
    const formats = row.formats.map((format) => FORMAT_NAMES[format]);
    const packages = versions.map((version) => `\`${version}\``);
    return `| ${row.library} | ${packages.join('<br>')} | ${formats.join(', ')} | ${run.join(', ')} | ${cases} |`;
  });
  return ['| Client | Packages | API formats | What was run | Cases |', '|---|---|---|---|---|', ...rows].join('\n');
}
