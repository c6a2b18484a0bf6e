/** The clouds' own libraries: a library's request in, its response out. */
import { type ClientChild, startChild } from './child.ts';

export interface CloudCall {
  call:
    | 'converse'
    | 'converse stream'
    | 'invoke'
    | 'anthropic bedrock'
    | 'anthropic vertex'
    | 'genai vertex'
    | 'genai express'
    | 'google token';
  at?: { url: string; key: unknown; project?: string; location?: string };
  request: object;
}

export interface CloudView {
  reply?: unknown;
  error?: string;
}

export function startCloudsClient(): Promise<ClientChild<CloudCall, CloudView>> {
  return startChild('clouds-child.mjs');
}
