/** How a provider generates videos: every step as a request to send and a response to read. No I/O. */
import { GatewayError } from '../../canonical/errors.ts';
import type { Json, JsonObject } from '../../canonical/json.ts';
import type { TaskProgress, VideoCall } from '../../canonical/task.ts';
import type { Outgoing, Target } from '../outgoing.ts';

/** A complete response of a provider. */
export interface ProviderAnswer {
  status: number;
  headers: Headers;
  body: Uint8Array;
}

/** A started task: the handle for polling, and what is already known. */
export interface Started {
  handle: Json;
  seen: TaskProgress;
}

/** The request to send, and a warning for each member that the provider cannot express. */
export interface StartRequest {
  outgoing: Outgoing;
  warnings: string[];
}

/** Requests are not authenticated yet: the provider's `authorize` does that. */
export interface VideoAdapter {
  /** Milliseconds until the first poll. Later polls are less and less frequent. Default: 5 s. */
  readonly firstLookMs?: number;
  /** The length of a video if the client names none. It is sent to the provider, so that the price is known. */
  readonly defaultSeconds: number;
  /** The maximum number of videos per request. Default: 1. */
  readonly mostVideos?: number;
  /** It has no resolution setting (`720p`): none is sent and none is charged. */
  readonly ignoresResolution?: true;
  /** The quality class by the provider's own settings, as prices name it. Absent: there is one class. */
  qualityOf?(metadata: JsonObject): string;
  /** The client format whose extra members are this provider's own (`VideoCall.words`). */
  readonly words?: string;
  /** The provider recognizes our id, so that a start can be repeated after a crash. */
  readonly repeatable?: true;
  /** `id`: the task's id. Throws `invalid_request` if the provider cannot do what is requested. */
  start(ask: VideoCall, target: Target, id: string): StartRequest;
  /** Throws the provider's error. */
  readStart(answered: ProviderAnswer, ask: VideoCall): Started;
  /** Looks a started task up by our id after a crash. */
  readonly find?: {
    ask(id: string, target: Target, ask: VideoCall): Outgoing;
    /** Returns `undefined` if the task was never started. Throws if the response does not tell. */
    read(answered: ProviderAnswer, ask: VideoCall): Started | undefined;
  };
  poll(handle: Json, target: Target): Outgoing;
  /** Throws if the status is temporarily unknown; with status 404 if the task is lost. */
  readPoll(answered: ProviderAnswer, handle: Json, target: Target): TaskProgress;
  /** Another address at which the provider stores results, with the same credential. */
  filesAt?(target: Target): string;
  /** Remixes a video of the provider. `handle`: that video's task. */
  remix?(handle: Json, ask: VideoCall, target: Target): StartRequest;
  /** Cancels a running task, if the provider can. */
  cancel?(handle: Json, target: Target): Outgoing;
}

/** The error for an unreadable success response. The task may have started, so it is not tried elsewhere. */
export function unreadableAnswer(): GatewayError {
  const sentence = 'The provider sent an answer that could not be read.';
  return new GatewayError('upstream_failed', sentence, { inDoubt: true });
}
