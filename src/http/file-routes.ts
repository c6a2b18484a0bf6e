/** Finished works by their unguessable names: who knows one needs no key. */
import { Type } from 'typebox';
import { GatewayError } from '../canonical/errors.ts';
import { readPictureName } from '../files/picture-shelf.ts';
import { fileReply } from './file-reply.ts';
import { type AnsweredRoute, route } from './route.ts';

const VIDEO = /^file_[0-9A-Za-z]{32}$/;

export const FILE_ROUTES: readonly AnsweredRoute[] = [
  route('GET', '/files/:file', {
    gate: 'open',
    summary: 'A finished video or picture by its unguessable name, in whole or in part (`Range`).',
    reply: Type.Unknown(),
    answer: (rooms, { path, headers }) =>
      fileReply(rooms.files, path.file ?? '', typeOf(path.file ?? '', rooms.now()), headers),
  }),
];

/** Throws `not_found`, also where the time of a picture is over and it has not been removed yet. */
function typeOf(name: string, now: number): string {
  if (VIDEO.test(name)) return 'video/mp4';
  const picture = readPictureName(name);
  if (picture && picture.endsAt > now) return picture.mimeType;
  throw new GatewayError('not_found', 'There is no such file, or it is kept no longer.');
}
