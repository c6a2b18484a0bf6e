/** The official library of each format, handed a body: what its user sees of it. */
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
    /** The library keeps the turn for the next one. */
    isRemembered?: boolean;
  }[];
  error?: { class: string; status: number | null; message: string };
}

export type ConsumeClient = ClientChild<Served, ServedView>;

export function startConsumeClient(): Promise<ConsumeClient> {
  return startChild('consume-child.mjs');
}
