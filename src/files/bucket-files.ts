/** Files in an S3-compatible bucket, with the runtime's client. */
import { GatewayError } from '../canonical/errors.ts';
import { bounded } from './bounded.ts';
import type { BucketPlace, Files } from './files.ts';

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
      const writer = client.file(name).writer();
      let bytes = 0;
      try {
        for await (const piece of bounded(pieces, maxBytes)) {
          writer.write(piece);
          await writer.flush();
          bytes += piece.length;
        }
      } catch (thrown) {
        // The client cannot abort an upload in another way: the bytes so far become a file, which is removed.
        await Promise.resolve(writer.end(thrown instanceof Error ? thrown : new Error('broken off'))).catch(() => {});
        await client.delete(name).catch(() => {});
        throw thrown;
      }
      await writer.end();
      return bytes;
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
