/** What a client said in the words of one provider is told to no other. */
import type { VideoAsk } from '../../canonical/task.ts';
import type { VideoAdapter } from './video.ts';

/** `unsaid`: a sentence for each member that this provider would not understand. */
export function toldTo({ words }: VideoAdapter, ask: VideoAsk): { ask: VideoAsk; unsaid: string[] } {
  const { dropped = [] } = ask;
  if (ask.words === undefined || ask.words === words) return { ask, unsaid: dropped };
  const unsaid = Object.keys(ask.metadata).map((name) => `\`${name}\` was dropped: the provider does not take it.`);
  return { ask: { ...ask, metadata: {} }, unsaid: [...dropped, ...unsaid] };
}
