/**
 * The common video format, `/v1/video/generations`: requests like OpenAI's; the response is that of
 * docs/api.md#video-generations.
 */
import type { JsonObject } from '../../canonical/json.ts';
import { readVideoAsk } from './openai-videos.ts';
import { errorNumber, factsOf, type TaskView, type VideoFormat } from './video-format.ts';

export const videoGenerations: VideoFormat = {
  name: 'video-generations',
  readAsk: readVideoAsk,
  writeTask: writeResult,
};

export function writeResult({ id, ask, state, urls, error, outputs }: TaskView): JsonObject {
  const [url] = urls;
  return {
    task_id: id,
    status: state,
    ...(url !== undefined && { url, format: 'mp4' }),
    ...(urls.length > 1 && { urls: [...urls] }),
    metadata: factsOf(ask, outputs),
    ...(error && { error: { code: errorNumber(error), message: error.message } }),
  };
}
