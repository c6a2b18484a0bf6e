/** Where results are stored: in a bucket if one is configured, otherwise in a folder next to the database. */
import { resolve } from 'node:path';
import type { BucketPlace } from '../files/files.ts';
import { SettingError } from './setting-error.ts';

type FilesSetting =
  | 'MODELPORT_DATA_DIR'
  | `MODELPORT_FILES_${'BUCKET' | 'ENDPOINT' | 'REGION' | 'ACCESS_KEY' | 'SECRET_KEY'}`;

/** `folder`: the base of relative paths. Throws SettingError. */
export function filesPlace(setting: (name: FilesSetting) => string, folder: string): { folder: string } | BucketPlace {
  const bucket = setting('MODELPORT_FILES_BUCKET');
  if (bucket === '') return { folder: resolve(folder, setting('MODELPORT_DATA_DIR'), 'files') };
  const endpoint = setting('MODELPORT_FILES_ENDPOINT');
  if (endpoint !== '' && !/^https?:$/.test(URL.parse(endpoint)?.protocol ?? '')) {
    throw new SettingError('MODELPORT_FILES_ENDPOINT must be a URL such as https://s3.example.com.');
  }
  const region = setting('MODELPORT_FILES_REGION');
  const accessKeyId = setting('MODELPORT_FILES_ACCESS_KEY');
  const secretAccessKey = setting('MODELPORT_FILES_SECRET_KEY');
  if (accessKeyId === '' || secretAccessKey === '') {
    throw new SettingError('MODELPORT_FILES_BUCKET needs MODELPORT_FILES_ACCESS_KEY and MODELPORT_FILES_SECRET_KEY.');
  }
  return { bucket, accessKeyId, secretAccessKey, ...(endpoint && { endpoint }), ...(region && { region }) };
}
