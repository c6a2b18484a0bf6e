/** The official openai library's videos in a child process: made, waited for, made anew, fetched, listed, deleted, looked for once more. */
import { type ClientChild, startChild } from './child.ts';
import type { OpenaiLibrary } from './openai-client.ts';

export interface VideoScenario {
  baseURL: string;
  apiKey: string;
  request: { [member: string]: unknown };
  /** Base64, sent as a file. */
  image?: string;
  /** How often the library may repeat a request by itself; 0 unless given. */
  maxRetries?: number;
  /** Once it is made, it is made anew. */
  remix?: { prompt: string };
  /** Instead of all else it is deleted while it is being made. */
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
  /** Of the last step that was taken: what is deleted is not found. */
  error?: { class: string; status: number; message: string };
}

export function startVideoClient(library: OpenaiLibrary): Promise<ClientChild<VideoScenario, VideoClientView>> {
  return startChild('videos-child.mjs', library);
}
