/** Finds the type of a document: its media type if it is specific, otherwise its file extension. */
import type { Media } from '../../../canonical/call.ts';

const BY_ENDING: { readonly [ending: string]: string } = {
  pdf: 'application/pdf',
  txt: 'text/plain',
  text: 'text/plain',
  log: 'text/plain',
  md: 'text/markdown',
  markdown: 'text/markdown',
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
  html: 'text/html',
  htm: 'text/html',
  json: 'application/json',
  jsonl: 'application/x-ndjson',
  xml: 'application/xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  sql: 'application/sql',
  js: 'text/javascript',
  ts: 'text/plain',
  py: 'text/x-python',
  css: 'text/css',
  rtf: 'text/rtf',
};
/** Types that clients send when they do not know the type. */
const SAYS_NOTHING = new Set(['', 'application/octet-stream', 'binary/octet-stream']);

/** Returns `undefined` if the type is unknown. */
export function documentType({ mimeType = '', name = '', title = '' }: Media): string | undefined {
  if (!SAYS_NOTHING.has(mimeType)) return mimeType;
  const [, ending = ''] = /\.(\w+)$/.exec(name === '' ? title : name) ?? [];
  return BY_ENDING[ending.toLowerCase()];
}
