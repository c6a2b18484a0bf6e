/** For tests: reads a stream up to what they wait for. */

/** What has arrived when it satisfies this. A stream that ends before fails the test: to go on reading it would block every timer. */
export async function readUntil(
  { body }: Response,
  isSo: (seen: string) => boolean,
): Promise<{ seen: string; reader: Pick<ReadableStreamDefaultReader<Uint8Array>, 'read'> }> {
  const reader = body?.getReader();
  if (!reader) throw new Error('the response has no body');
  const decoder = new TextDecoder();
  let seen = '';
  while (!isSo(seen)) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`the stream has ended: ${seen}`);
    seen += decoder.decode(value, { stream: true });
  }
  return { seen, reader };
}
