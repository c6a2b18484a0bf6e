/** The requests that the load generator sends to the mock upstream through a gateway. */

export const MODEL = 'bench-model';
export const CHAT_PATH = '/v1/chat/completions';
/** The path of upstreams with the messages format. */
export const MESSAGES_PATH = '/v1/messages';

/** A stream's length and rate are part of the prompt, the one member that every gateway passes on. */
export interface Pace {
  chunks: number;
  everyMs: number;
}

const PACE = /\[\[(\d+) chunks every (\d+) ms\]\]/;

/** A chat request of about a kilobyte; with `pace`, a streaming one. */
export function writeRequest(pace?: Pace): string {
  const instructions = 'You are a careful assistant who answers in few words and names its sources. '.repeat(10);
  const question = 'Which of the two ways through the old town is shorter on foot, and by how much?';
  return JSON.stringify({
    model: MODEL,
    messages: [
      { role: 'system', content: instructions },
      { role: 'user', content: pace ? `${question} [[${pace.chunks} chunks every ${pace.everyMs} ms]]` : question },
    ],
    temperature: 0.7,
    max_tokens: 256,
    ...(pace && { stream: true }),
  });
}

/** The requested rate, or `undefined` for a non-streaming response. */
export function readPace(body: string): Pace | undefined {
  const match = PACE.exec(body);
  return match ? { chunks: Number(match[1]), everyMs: Number(match[2]) } : undefined;
}

/** Precedes the time at which a chunk was sent, in milliseconds since 1970: the chunk's text. Gateways write JSON with and without spaces. */
export const TIME_MARK = '"at ';
export const TIME_DIGITS = 13;
