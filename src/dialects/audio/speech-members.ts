/** Members of a speech request that only providers of OpenAI's format understand. */
import type { SpeechCall } from '../../canonical/call.ts';
import { isObject } from '../../canonical/json.ts';
import { parseBody } from '../shared/request-body.ts';
import { topMembers } from '../shared/request-shape.ts';
import { SpeechRequest } from './openai-speech/request-schema.ts';

/** Makes an OpenAI-format body from the call, so that all members are kept in one place. */
export function speechBody(
  model: string,
  { input, voice, instructions, format }: Pick<SpeechCall, 'input' | 'voice' | 'instructions' | 'format'>,
): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ model, input, voice, instructions, response_format: format }));
}

const KNOWN = topMembers(SpeechRequest);

/** A warning for each such member. */
export function unknownSpeechMembers({ origin }: SpeechCall): string[] {
  const body = parseBody(origin.body);
  const unknown = Object.keys(isObject(body) ? body : {}).filter((member) => !KNOWN.has(member));
  return unknown.map((member) => `\`${member}\` was dropped: the provider has no such member.`);
}
