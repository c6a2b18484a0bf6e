/**
 * Videos with the official openai library in a child process: created, awaited, remixed, downloaded, listed, deleted, and looked up again.
 */
import { type ClientChild, startChild } from './child.ts';
import type { OpenaiLibrary } from './openai-client.ts';

export interface VideoScenario {
  baseURL: string;
  apiKey: string;
  request: { [member: string]: unknown };
  /** Base64, sent as a file. */
  image?: string;
  /** Automatic retries of the library; 0 by default. */
  maxRetries?: number;
  /** Remixes the video once it is finished. */
  remix?: { prompt: string };
  /** Only deletes the video while it is being generated. */
  deleteAtOnce?: true;
}

export interface VideoClientView {
  created?: { id: string; object: string; status: string; seconds: string };
  ended?: { id: string; status: string; progress: number };
  remixed?: { id: string; status: string; remixed_from_video_id?: string; prompt?: string; seconds: string };
  remixEnded?: { id: string; status: string };
  type?: string;
  bytes?: number;
  listed?: string[];
  deleted?: { id: string; deleted: boolean };
  /** The error of the last step: a deleted video is not found. */
  error?: { class: string; status: number; message: string };
}

export function startVideoClient(library: OpenaiLibrary): Promise<ClientChild<VideoScenario, VideoClientView>> {
  return startChild('videos-child.mjs', library);
}
