/** Files in an S3-compatible bucket, with the runtime's client. */
import { GatewayError } from '../canonical/errors.ts';
import { bounded } from './bounded.ts';
import type { BucketPlace, Files } from './files.ts';

/** Of five mebibytes each; so much of a file is in memory. */
const PARTS_AT_ONCE = 1;

export function bucketFiles({ bucket, endpoint, region, accessKeyId, secretAccessKey }: BucketPlace): Files {
  const client = new Bun.S3Client({
    bucket,
    accessKeyId,
    secretAccessKey,
    ...(endpoint !== undefined && { endpoint }),
    ...(region !== undefined && { region }),
  });
  return {
    async write(name, pieces, maxBytes) {
      // Not with the client's writer: it cannot be broken off, and would put what it has in the place of the whole file.
      const source = bounded(pieces, maxBytes);
      const body = new ReadableStream<Uint8Array>(
        {
          async pull(controller) {
            const { done, value } = await source.next();
            if (done) controller.close();
            else controller.enqueue(value);
          },
          cancel: async () => void (await source.return(undefined)),
        },
        { highWaterMark: 0 },
      );
      return client.write(name, new Response(body), { queueSize: PARTS_AT_ONCE });
    },
    async size(name) {
      try {
        return (await client.stat(name)).size;
      } catch (thrown) {
        if ((thrown as { code?: unknown }).code === 'NoSuchKey') return undefined;
        throw new GatewayError('upstream_unavailable', 'Files cannot be reached at the moment. Please try again.', {
          cause: thrown,
        });
      }
    },
    read: (name, { start, end }) => client.file(name).slice(start, end).stream(),
    async remove(name) {
      await client.delete(name);
    },
    async *names(prefix) {
      let after = '';
      for (;;) {
        const page = await client.list({ prefix, ...(after !== '' && { startAfter: after }) });
        for (const { key } of page.contents ?? []) yield key;
        const last = page.contents?.at(-1)?.key;
        if (!page.isTruncated || last === undefined) return;
        after = last;
      }
    },
  };
}
