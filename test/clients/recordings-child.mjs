// Reads a slice of the translations in a file (its path is the first argument) with one library, and reports what is wrong with what
// its user sees. One JSON line in, one out. No network: `fetch` answers with the body.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { isDeepStrictEqual } from 'node:util';
import { LIBRARIES } from './versions-readers.mjs';

const TRANSLATIONS = readFileSync(process.argv[2], 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line));

/** What the libraries are answered that have no way in but the global function: one reads at a time. */
let served;
const answering = ({ body, status, contentType }) =>
  new Response(body, { status, headers: { 'content-type': contentType } });
globalThis.fetch = async () => answering(served);

const CLIENT = { url: 'http://nowhere.invalid', apiKey: 'sk-nobody', model: 'public-model' };

async function seen(library, format, body, { stream, tools }) {
  served = body;
  try {
    const { text, calls } = await LIBRARIES[library][format]({ ...CLIENT, stream, tools, fetch: globalThis.fetch });
    return { text, calls };
  } catch (thrown) {
    const failure = thrown?.lastError ?? thrown;
    const message = `${failure?.constructor?.name}: ${String(failure?.message ?? failure)}`;
    return { error: message.slice(0, 600), status: failure?.status ?? failure?.statusCode };
  }
}

const shown = (value) => JSON.stringify(value)?.slice(0, 200);

/** AI SDK 4 puts the texts of a response on lines of their own. */
const isText = (library, format, seenText, text) =>
  library === 'ai 4' && format === 'openai-responses'
    ? seenText.replaceAll('\n', '') === text.replaceAll('\n', '')
    : seenText === text;

async function faultOf(library, format, reading) {
  const { body, expected, error, native } = reading;
  const view = await seen(library, format, body, reading);
  if (error) {
    if (!view.error) return 'takes an incomplete reply for a complete one';
    const isStatus = body.status < 400 || view.status === undefined || view.status === body.status;
    return isStatus ? undefined : `sees the status ${view.status}, sent as ${body.status}`;
  }
  const wanted = native ? await seen(library, format, native, reading) : expected;
  // What the library cannot read of its own provider, and Mistral's lists of pieces, which we write as one text.
  if (wanted.error || typeof wanted.text !== 'string') return undefined;
  if (view.error) return `fails: ${view.error}`;
  const texts = [wanted.text, ...(wanted.refusal ? [wanted.text + wanted.refusal] : [])];
  if (!texts.some((text) => isText(library, format, view.text, text)))
    return `sees the text ${shown(view.text)}, expected ${shown(wanted.text)}`;
  const isSame = wanted.calls === undefined || isDeepStrictEqual(view.calls, wanted.calls);
  return isSame ? undefined : `sees the calls ${shown(view.calls)}, expected ${shown(wanted.calls)}`;
}

async function run({ id, library, format, places }) {
  const faults = [];
  for (const place of places) {
    const fault = await faultOf(library, format, TRANSLATIONS[place]);
    if (fault) faults.push([place, fault]);
  }
  process.stdout.write(`${JSON.stringify({ id, faults })}\n`);
}

console.warn = () => {};
console.error = () => {};
globalThis.AI_SDK_LOG_WARNINGS = false;
// Helpers also reject promises that are not used.
process.on('unhandledRejection', () => {});
for await (const line of createInterface({ input: process.stdin })) await run(JSON.parse(line));
