/** Passes a body to the official library of its format and returns what the library's user sees. */
import { type ClientChild, startChild } from './child.ts';

export interface Served {
  /** A dialect's name. */
  format: string;
  stream: boolean;
  status: number;
  contentType: string;
  body: string;
}

export interface ServedView {
  choices?: {
    text: string;
    reasoning?: string;
    refusal?: string;
    /** Name and arguments, or free text. */
    calls?: [string, unknown][];
    finish: string | null;
    /** The library keeps the turn for the next request. */
    isRemembered?: boolean;
  }[];
  error?: { class: string; status: number | null; message: string };
}

export type ConsumeClient = ClientChild<Served, ServedView>;

export function startConsumeClient(): Promise<ConsumeClient> {
  return startChild('consume-child.mjs');
}
