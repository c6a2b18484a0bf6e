/** How a provider makes videos: each step as data to send and data that came back, no I/O. */
import { GatewayError } from '../../canonical/errors.ts';
import type { Json, JsonObject } from '../../canonical/json.ts';
import type { Progress, VideoAsk } from '../../canonical/task.ts';
import type { Outgoing, Target } from '../outgoing.ts';

/** A provider's answer, whole. */
export interface Answered {
  status: number;
  headers: Headers;
  body: Uint8Array;
}

/** A task that the provider has taken on: what to ask with, and what is known already. */
export interface Started {
  handle: Json;
  seen: Progress;
}

/** What to send, and what of the request the provider cannot be told (a sentence each). */
export interface Starting {
  outgoing: Outgoing;
  warnings: string[];
}

/** Requests are unsigned: the provider's `authorize` signs them. */
export interface VideoAdapter {
  /** Milliseconds until the first look at a task; later looks come ever less often. Absent: 5 s. */
  readonly firstLookMs?: number;
  /** Length of a video where the client names none: said to the provider, so that it is known what is paid for. */
  readonly defaultSeconds: number;
  /** How many videos the provider makes of one order; absent: one. */
  readonly mostVideos?: number;
  /** It takes no resolution (`720p`): none is told, and none is paid for. */
  readonly ignoresResolution?: true;
  /** How well a video is made by what is said of that in its own words; absent: in one way. Prices name the same words. */
  qualityOf?(metadata: JsonObject): string;
  /** What the clients' format is called in which members are this provider's own words (`VideoAsk.words`). */
  readonly words?: string;
  /** The provider recognises a start by our id: after a crash it may be repeated. */
  readonly repeatable?: true;
  /** `id` is the task's. Throws `invalid_request` where the provider cannot do what is asked. */
  start(ask: VideoAsk, target: Target, id: string): Starting;
  /** Throws the provider's refusal. */
  readStart(answered: Answered, ask: VideoAsk): Started;
  /** Looks a start up by our id after a crash. */
  readonly find?: {
    ask(id: string, target: Target, ask: VideoAsk): Outgoing;
    /** `undefined`: the provider knows of none, it was never started. Throws where it could not be told. */
    read(answered: Answered, ask: VideoAsk): Started | undefined;
  };
  poll(handle: Json, target: Target): Outgoing;
  /** Throws where nothing can be said now; with status 404 where the task is lost. */
  readPoll(answered: Answered, handle: Json, target: Target): Progress;
  /** Where else the provider keeps what it made, behind the same credential. */
  filesAt?(target: Target): string;
  /** Makes a video of the provider's anew; `handle` is that one's. */
  remix?(handle: Json, ask: VideoAsk, target: Target): Starting;
  /** Ends a task under way, where the provider can. */
  cancel?(handle: Json, target: Target): Outgoing;
}

/** Of an answer that is no refusal and says nothing: a start may have come of it, so it is not tried elsewhere. */
export function unreadable(): GatewayError {
  const sentence = 'The provider sent an answer that could not be read.';
  return new GatewayError('upstream_failed', sentence, { inDoubt: true });
}
