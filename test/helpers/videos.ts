/** For tests: a client of the video endpoints in plain HTTP, and a provider's own videos for the scripted upstream. */

import type { Answer } from '../upstream/answer.ts';
import type { Scene, Stage, StageSetup } from './scene.ts';

/** USD per second: 100 000 000 nano-USD. */
export const SECOND_PRICE = { perSecond: 0.1 };

export interface VideoView {
  id: string;
  object?: string;
  model: string;
  status: string;
  progress: number;
  seconds: string;
  size?: string;
  error?: { code: string; message: string };
  metadata?: object;
}

/** A task in OpenAI's format. */
export const providerVideo = (status: string, more: object = {}): Answer => ({
  json: { id: 'vid_upstream', object: 'video', status, progress: 0, ...more },
});

export const VIDEO = Buffer.from('0123456789 a video of its own kind');
export const videoAnswer: Answer = { bytes: VIDEO, headers: { 'content-type': 'video/mp4' } };

export function authorized(stage: Pick<Stage, 'caller'>): { authorization: string } {
  return { authorization: `Bearer ${stage.caller.key}` };
}

/** Polls the task until `wanted` holds; returns every state seen. */
export async function watch(
  url: string,
  stage: Pick<Stage, 'caller'>,
  id: string,
  wanted = (video: VideoView) => video.status === 'completed' || video.status === 'failed',
  withinMs = 20_000,
): Promise<{ last: VideoView; seen: VideoView[] }> {
  const seen: VideoView[] = [];
  const deadline = Date.now() + withinMs;
  for (;;) {
    const answer = await fetch(`${url}/v1/videos/${id}`, { headers: authorized(stage) });
    const last = (await answer.json()) as VideoView;
    seen.push(last);
    if (wanted(last)) return { last, seen };
    if (Date.now() > deadline) throw new Error(`the video stayed as it was: ${JSON.stringify(last)}`);
    await Bun.sleep(100);
  }
}

/** A stage whose model is the sandbox's video model, at 0.10 USD per second. */
export const sandboxVideoStage = (scene: Pick<Scene, 'stage'>, more: Partial<StageSetup> = {}): Promise<Stage> =>
  scene.stage({
    type: 'sandbox',
    kind: 'video',
    upstreamModel: 'sandbox-video',
    baseUrls: ['http://sandbox.invalid/v1'],
    price: SECOND_PRICE,
    ...more,
  });
