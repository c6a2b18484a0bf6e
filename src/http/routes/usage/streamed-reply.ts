/** Replies that are made while they are sent, as fast as the client reads. */

/**
 * The first piece is made before the reply begins, so that what fails until then is answered as an error. What fails later breaks the
 * connection off: a client does not take a part for the whole.
 */
export async function streamedReply(pieces: AsyncIterator<Uint8Array, undefined>, type: string): Promise<Response> {
  const first = await pieces.next();
  let waiting = first.done ? undefined : first.value;
  const body = new ReadableStream<Uint8Array>(
    {
      /** Called when the client has read what was sent. */
      async pull(controller) {
        const piece = waiting ?? (await pieces.next()).value;
        waiting = undefined;
        if (piece) controller.enqueue(piece);
        else controller.close();
      },
      cancel() {
        waiting = undefined;
        return pieces.return?.().then(() => {});
      },
    },
    { highWaterMark: 0 },
  );
  // With this header nginx passes on each piece.
  return new Response(body, { headers: { 'content-type': type, 'x-accel-buffering': 'no' } });
}
