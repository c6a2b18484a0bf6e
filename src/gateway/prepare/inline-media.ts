/** Step: media that the call names by URL are fetched and sent inline, where the target does not fetch them itself. */
import type { Step } from '../target-call.ts';
import { urlsTaken } from '../target-route.ts';

export const inlineMedia: Step = {
  applies: ({ context }) => context.media !== undefined,

  async run(prepared) {
    const { media } = prepared.context;
    if (media) prepared.call = await media.inlineFor(urlsTaken(prepared.route));
  },
};
