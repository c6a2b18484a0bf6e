/** Opens the configured file storage. */
import { bucketFiles } from './bucket-files.ts';
import type { BucketPlace, Files } from './files.ts';
import { folderFiles } from './folder-files.ts';

/**
 * Storage of finished videos and images: a folder of this machine, or an S3-compatible bucket.
 *
 * @example
 * const files = openFiles({ folder: './data/files' });
 */
export function openFiles(place: { folder: string } | BucketPlace): Files {
  return 'folder' in place ? folderFiles(place.folder) : bucketFiles(place);
}
