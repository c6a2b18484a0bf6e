/** Turns what route handlers return into responses: objects as JSON, and Responses. */
import type { Answer, ByteSink, ByteSource } from '../http1/answer.ts';

export function answerJson(value: object): Answer {
  return { status: 200, headers: { 'content-type': 'application/json;charset=utf-8' }, body: JSON.stringify(value) };
}

/** A body with a known length is streamed, and one that no proxy may hold back; any other is read completely first. */
export async function answerResponse(response: Response): Promise<Answer> {
  const { status, body } = response;
  const headers = Object.fromEntries(response.headers);
  // An answer has one value for each name. The case of a name does not count for who reads it, so a second cookie gets another one.
  const [first, second] = response.headers.getSetCookie();
  if (first !== undefined && second !== undefined)
    Object.assign(headers, { 'set-cookie': first, 'Set-Cookie': second });
  if (!body) return { status, headers, body: undefined };
  const isStreamed = headers['content-length'] !== undefined || headers['x-accel-buffering'] === 'no';
  return { status, headers, body: isStreamed ? sourceOf(body) : await response.bytes() };
}

/** Reads the next piece when the previous one was sent. */
function sourceOf(stream: ReadableStream<Uint8Array>): ByteSource {
  const reader = stream.getReader();
  let sink: ByteSink | undefined;
  async function bring(): Promise<void> {
    try {
      for (let isTaken = true; isTaken; ) {
        const { done, value } = await reader.read();
        if (done) {
          sink?.end();
          return;
        }
        isTaken = sink?.write(value) ?? false;
      }
    } catch (thrown) {
      sink?.fail(thrown);
    }
  }
  return {
    start(given) {
      sink = given;
      void bring();
    },
    resume: () => void bring(),
    cancel() {
      sink = undefined;
      // A stream that has ended or failed cannot be cancelled.
      reader.cancel().catch(() => {});
    },
  };
}
