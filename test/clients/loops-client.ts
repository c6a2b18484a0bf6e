/** Official libraries in a simple tool loop, and single calls of the Responses resource. */
import { type ClientChild, startChild } from './child.ts';

interface At {
  /** The gateway's URL without a path. */
  url: string;
  apiKey: string;
}

/** A tool loop with `weather` in which the client sends back only what the format's types define. */
export interface Loop extends At {
  format: 'chat' | 'gemini';
  model: string;
  stream: boolean;
  turns: number;
  prompt?: string;
  /** The end of an earlier loop, to continue from. */
  history?: unknown[];
  extra?: { [member: string]: unknown };
}

export interface LoopView {
  turns: { text: string; calls: number }[];
  history: unknown[];
  error?: ErrorView;
}

/** A method of `client.responses`, such as `create` or `inputItems.list`. */
export interface ResponsesCall extends At {
  method: string;
  args: unknown[];
}

export interface ErrorView {
  class: string;
  status: number | null;
  code: string | null;
  param: string | null;
  message: string;
}

/** As the library parsed it. */
export interface ResponseView {
  id: string;
  object: string;
  status: string;
  model: string;
  output: { type: string; id: string; [member: string]: unknown }[];
  output_text: string;
  previous_response_id: string | null;
  store: boolean;
  [member: string]: unknown;
}

export interface ResponsesView {
  result?: ResponseView;
  /** The items of a list, or the events of a stream. */
  listed?: { id: string; type: string; [member: string]: unknown }[];
  error?: ErrorView;
}

export interface ForgetfulClient {
  loop(loop: Loop): Promise<LoopView>;
  responses(call: ResponsesCall): Promise<ResponsesView>;
  stop(): void;
}

export async function startLoopsClient(): Promise<ForgetfulClient> {
  const child: ClientChild<Loop | ResponsesCall, LoopView & ResponsesView> = await startChild('loops-child.mjs');
  return { loop: (loop) => child.run(loop), responses: (call) => child.run(call), stop: () => child.stop() };
}
