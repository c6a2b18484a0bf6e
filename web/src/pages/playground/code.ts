/** The request as lines to paste, with the official libraries. */
export const LANGUAGES = ['curl', 'TypeScript', 'Python'] as const;
export type CodeLanguage = (typeof LANGUAGES)[number];

export interface Sent {
  path: string;
  body: object;
}

const TRANSCRIPTIONS = '/v1/audio/transcriptions';
const SPEECH = '/v1/audio/speech';

/** Which method of the official libraries sends this path; undefined: only curl is shown as it is. */
const METHODS: { readonly [path: string]: string } = {
  '/v1/chat/completions': 'chat.completions.create',
  '/v1/responses': 'responses.create',
  '/v1/embeddings': 'embeddings.create',
  '/v1/images/generations': 'images.generate',
  [SPEECH]: 'audio.speech.create',
};

export function codeFor(language: CodeLanguage, { path, body }: Sent, baseUrl: string): string {
  if (path === TRANSCRIPTIONS) return transcription(language, body, baseUrl);
  const method = METHODS[path];
  if (language === 'TypeScript') return method ? typescript(method, body, baseUrl) : fetchCode(path, body, baseUrl);
  if (language === 'Python') return method ? python(method, body, baseUrl) : requestsCode(path, body, baseUrl);
  const json = JSON.stringify(body, null, 2).replaceAll("'", "'\\''");
  const file = path === SPEECH ? ' --output speech.mp3' : '';
  return `curl -N ${baseUrl}${path}${file} \\\n  -H "Authorization: Bearer $MODELPORT_KEY" \\\n  -H "Content-Type: application/json" \\\n  -d '${json}'`;
}

/** A file is sent as a form. */
function transcription(language: CodeLanguage, body: object, baseUrl: string): string {
  const { model = '' } = body as { model?: string };
  if (language === 'TypeScript') {
    return `import { createReadStream } from 'node:fs';
import OpenAI from 'openai';

const client = new OpenAI({
  baseURL: '${baseUrl}/v1',
  apiKey: process.env.MODELPORT_KEY,
});
const result = await client.audio.transcriptions.create({
  model: ${JSON.stringify(model)},
  file: createReadStream('speech.mp3'),
});`;
  }
  if (language === 'Python') {
    return `import os
from openai import OpenAI

client = OpenAI(
    base_url="${baseUrl}/v1",
    api_key=os.environ["MODELPORT_KEY"],
)
result = client.audio.transcriptions.create(
    model=${pythonValue(model)},
    file=open("speech.mp3", "rb"),
)`;
  }
  return `curl ${baseUrl}${TRANSCRIPTIONS} \\
  -H "Authorization: Bearer $MODELPORT_KEY" \\
  -F file=@speech.mp3 \\
  -F 'model=${model.replaceAll("'", "'\\''")}'`;
}

function typescript(method: string, body: object, baseUrl: string): string {
  const given = JSON.stringify(body, null, 2).replace(/^(\s*)"([a-z_]+)":/gim, '$1$2:');
  return `import OpenAI from 'openai';

const client = new OpenAI({
  baseURL: '${baseUrl}/v1',
  apiKey: process.env.MODELPORT_KEY,
});
const result = await client.${method}(${given});`;
}

function fetchCode(path: string, body: object, baseUrl: string): string {
  return `const response = await fetch('${baseUrl}${path}', {
  method: 'POST',
  headers: {
    Authorization: \`Bearer \${process.env.MODELPORT_KEY}\`,
    'Content-Type': 'application/json',
  },
  body: JSON.stringify(${JSON.stringify(body, null, 2)}),
});`;
}

function python(method: string, body: object, baseUrl: string): string {
  const given = Object.entries(body).map(([name, value]) => `    ${name}=${pythonValue(value)},`);
  return `import os
from openai import OpenAI

client = OpenAI(
    base_url="${baseUrl}/v1",
    api_key=os.environ["MODELPORT_KEY"],
)
result = client.${method}(
${given.join('\n')}
)`;
}

function requestsCode(path: string, body: object, baseUrl: string): string {
  return `import os, requests

response = requests.post(
    "${baseUrl}${path}",
    headers={"Authorization": "Bearer " + os.environ["MODELPORT_KEY"]},
    json=${pythonValue(body)},
)`;
}

/** JSON as Python writes it. Texts stay as they are: only values outside of quotes are renamed. */
export function pythonValue(value: unknown): string {
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (value === null || value === undefined) return 'None';
  if (Array.isArray(value)) return `[${value.map(pythonValue).join(', ')}]`;
  if (typeof value === 'object') {
    return `{${Object.entries(value)
      .map(([name, inner]) => `${JSON.stringify(name)}: ${pythonValue(inner)}`)
      .join(', ')}}`;
  }
  return JSON.stringify(value);
}
