/** Sends provider-specific members of a video request only to that provider. */
import type { VideoCall } from '../../canonical/task.ts';
import type { VideoAdapter } from './video.ts';

/** `unsaid`: a warning for each member that this provider would not understand. */
export function withOwnMembers({ words }: VideoAdapter, ask: VideoCall): { ask: VideoCall; unsaid: string[] } {
  const { dropped = [] } = ask;
  if (ask.words === undefined || ask.words === words) return { ask, unsaid: dropped };
  const unsaid = Object.keys(ask.metadata).map((name) => `\`${name}\` was dropped: the provider does not take it.`);
  return { ask: { ...ask, metadata: {} }, unsaid: [...dropped, ...unsaid] };
}
