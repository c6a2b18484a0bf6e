/** Writes the names in a folder to disk: without that, a power failure may take a file whose bytes are there. */
import { closeSync, fsyncSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';

/** Of systems and file systems that do not sync folders, or do not open them. */
const UNABLE = new Set(['EISDIR', 'EPERM', 'EACCES', 'EINVAL', 'EBADF', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

function ignoreUnable(thrown: unknown): void {
  if (!UNABLE.has((thrown as { code?: string }).code ?? '')) throw thrown;
}

export async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(path, 'r');
    await folder.sync().finally(() => folder.close());
  } catch (thrown) {
    ignoreUnable(thrown);
  }
}

/** The same before anything else happens. */
export function syncFolderNow(path: string): void {
  try {
    const folder = openSync(path, 'r');
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  } catch (thrown) {
    ignoreUnable(thrown);
  }
}
