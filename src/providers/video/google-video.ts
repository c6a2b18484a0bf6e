/**
 * Google's videos (Veo) in the Gemini API and on Vertex AI: long-running operations. Source: both API references and
 * the official library.
 */
import { GatewayError } from '../../canonical/errors.ts';
import { isObject, type Json, type JsonObject } from '../../canonical/json.ts';
import type { FoundOutput, TaskImage, TaskProgress } from '../../canonical/task.ts';
import { googleUrl } from '../clouds/google-url.ts';
import type { Outgoing, Target } from '../outgoing.ts';
import { imageOf, ratioOf, resolutionOf } from './images-and-sizes.ts';
import { defined, jsonRequest, memberOf, membersIn, plainRequest, requiredId } from './json-requests.ts';
import { dropped } from './losses.ts';
import { failure } from './task-states.ts';
import type { VideoAdapter } from './video.ts';

/** The address of results that are stored in a bucket. */
export const CLOUD_STORAGE = 'https://storage.googleapis.com';

interface Places {
  start(target: Target): string;
  /** Polls an operation by its name. */
  ask(name: string, target: Target): Outgoing;
  /** The address of the buckets, if results may be in one. */
  bucketsAt?(target: Target): string;
}

export function veoAt({ start, ask: askAfter, bucketsAt }: Places): VideoAdapter {
  return {
    defaultSeconds: 8,
    mostVideos: 4,
    firstLookMs: 10_000,
    start(ask, target) {
      const first = imageOf(ask, 'first');
      const last = imageOf(ask, 'last');
      const references = ask.images.filter(({ role }) => role === 'reference');
      const instance = defined({
        prompt: ask.prompt,
        image: first && inline(first),
        lastFrame: last && inline(last),
        referenceImages:
          references.length === 0
            ? undefined
            : references.map((one) => ({ image: inline(one), referenceType: 'asset' })),
      });
      const parameters = defined({
        ...ask.metadata,
        aspectRatio: ratioOf(ask),
        durationSeconds: ask.seconds,
        resolution: resolutionOf(ask)?.replace('2160p', '4k'),
        negativePrompt: ask.negativePrompt,
        seed: ask.seed,
        sampleCount: ask.n === 1 ? undefined : ask.n,
      });
      return {
        outgoing: jsonRequest(start(target), { instances: [instance], parameters }),
        warnings: dropped(ask, 'fps'),
      };
    },
    readStart: (answered) => ({ handle: requiredId(membersIn(answered).name), seen: { state: 'in_progress' } }),
    poll: (handle, target) => askAfter(String(handle), target),
    readPoll: (answered, _handle, target) => seenIn(membersIn(answered), bucketsAt?.(target) ?? CLOUD_STORAGE),
    ...(bucketsAt && { filesAt: bucketsAt }),
  };
}

export const googleVideo = veoAt({
  start: ({ baseUrl, model }) => googleUrl(baseUrl, model, 'predictLongRunning'),
  ask: (name, { baseUrl }) => plainRequest(googleUrl(baseUrl, name)),
});

function inline({ source }: TaskImage): JsonObject {
  if (source.type === 'url') {
    const sentence = 'The provider takes images as data, not by address: send it as a file or as base64.';
    throw new GatewayError('invalid_request', sentence, { param: 'image' });
  }
  return { bytesBase64Encoded: source.base64, mimeType: source.mimeType ?? 'image/png' };
}

function seenIn({ done, error, response }: JsonObject, buckets: string): TaskProgress {
  if (isObject(error)) return { state: 'failed', error: failure(undefined, error.message) };
  if (done !== true) return { state: 'in_progress' };
  const whole = isObject(response) ? response : {};
  const { generatedSamples, videos, raiMediaFilteredReasons } = {
    ...whole,
    ...memberOf(whole, 'generateVideoResponse'),
  };
  const samples = listed(generatedSamples).map((sample) => memberOf(sample, 'video'));
  const found = [...samples, ...listed(videos)].flatMap((video) => outputIn(video, buckets));
  if (found.length > 0) return { state: 'completed', found };
  const [reason] = Array.isArray(raiMediaFilteredReasons) ? raiMediaFilteredReasons : [];
  return { state: 'failed', error: failure('content_policy', reason) };
}

function listed(list: Json | undefined): JsonObject[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

/** The Gemini API and Vertex AI name the same members differently. */
function outputIn(video: JsonObject, buckets: string): FoundOutput[] {
  const { uri, gcsUri, encodedVideo, bytesBase64Encoded = encodedVideo, encoding, mimeType: type = encoding } = video;
  const mimeType = typeof type === 'string' ? { mimeType: type } : {};
  if (typeof bytesBase64Encoded === 'string') return [{ base64: bytesBase64Encoded, ...mimeType }];
  if (typeof uri === 'string') return [{ url: uri, signed: true, ...mimeType }];
  if (typeof gcsUri !== 'string') return [];
  return [{ url: gcsUri.replace(/^gs:\//, buckets), signed: true, ...mimeType }];
}
