/** Opens the configured file storage. */
import { bucketFiles } from './bucket-files.ts';
import type { BucketPlace, Files } from './files.ts';
import { folderFiles } from './folder-files.ts';

export function openFiles(place: { folder: string } | BucketPlace): Files {
  return 'folder' in place ? folderFiles(place.folder) : bucketFiles(place);
}
