/** The members of a format's objects, as its official library declares them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { clientsFolder } from '../clients/install.ts';

const LIBRARIES: { readonly [name: string]: string } = {
  chat: 'openai/resources/chat/completions/completions.d.ts',
  completions: 'openai/resources/completions.d.ts',
  shared: 'openai/resources/shared.d.ts',
  responses: 'openai/resources/responses/responses.d.ts',
  messages: '@anthropic-ai/sdk/resources/messages/messages.d.ts',
  gemini: '@google/genai/dist/genai.d.ts',
};

/** `chat/ChatCompletionMessage` -> its members, sorted. */
export function libraryMembers(name: string): string[] {
  const [library = '', type = ''] = name.split('/');
  const text = readFileSync(join(clientsFolder, 'node_modules', LIBRARIES[library] ?? ''), 'utf8');
  const at = text.search(new RegExp(`\\b(interface|class) ${type}\\b`));
  if (at < 0) throw new Error(`The library declares no ${name}.`);
  const begin = text.indexOf('{', at);
  const body = text.slice(begin + 1, endOf(text, begin));
  const indent = /\n( +)\S/.exec(body)?.[1] ?? '    ';
  const members = [...body.matchAll(new RegExp(`^${indent}(?:readonly )?'?(\\w+)'?\\??:`, 'gm'))];
  return members.map(([, member = '']) => member).toSorted();
}

function endOf(text: string, begin: number): number {
  let depth = 0;
  for (let at = begin; at < text.length; at++) {
    if (text[at] === '{') depth++;
    if (text[at] === '}' && --depth === 0) return at;
  }
  return text.length;
}
