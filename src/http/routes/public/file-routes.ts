/** Files of finished videos and images. Their names cannot be guessed, so no key is needed. */
import { GatewayError } from '../../../canonical/errors.ts';
import { readImageName } from '../../../files/image-store.ts';
import { type AnsweredRoute, route } from '../../route.ts';
import { fileReply } from './file-reply.ts';

const VIDEO = /^file_[0-9A-Za-z]{32}$/;

export const FILE_ROUTES: readonly AnsweredRoute[] = [
  route('GET', '/files/:file', {
    gate: 'open',
    summary: 'A finished video or image by its unguessable name, in whole or in part (`Range`).',
    answer: (deps, { path, headers }) =>
      fileReply(deps.files, path.file ?? '', typeOf(path.file ?? '', deps.now()), headers),
  }),
];

/** Throws `not_found`, also for an expired image that has not been removed yet. */
function typeOf(name: string, now: number): string {
  if (VIDEO.test(name)) return 'video/mp4';
  const image = readImageName(name);
  if (image && image.endsAt > now) return image.mimeType;
  throw new GatewayError('not_found', 'There is no such file, or it has expired.');
}
