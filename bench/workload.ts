/** What the load generator asks of the mock upstream, through whatever stands between them. */

export const MODEL = 'bench-model';
export const CHAT_PATH = '/v1/chat/completions';
/** Where an upstream of the messages format is asked. */
export const MESSAGES_PATH = '/v1/messages';

/** A stream's length and pace travel in the prompt: it is the one member every gateway passes on. */
export interface Pace {
  chunks: number;
  everyMs: number;
}

const PACE = /\[\[(\d+) chunks every (\d+) ms\]\]/;

/** A chat request of about a kilobyte; with a pace, a streamed one. */
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

/** The pace a request asks for; `undefined` where it wants a whole reply. */
export function readPace(body: string): Pace | undefined {
  const match = PACE.exec(body);
  return match ? { chunks: Number(match[1]), everyMs: Number(match[2]) } : undefined;
}

/** Stands before the time a chunk was sent, in milliseconds since 1970: the chunk's text. */
export const TIME_MARK = '"content":"at ';
export const TIME_DIGITS = 13;
