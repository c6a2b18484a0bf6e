/** Checks that the embedding formats share. */
import type { EmbedCall } from '../../canonical/call.ts';
import { GatewayError } from '../../canonical/errors.ts';
import type { Json } from '../../canonical/json.ts';
import { figure, type Usage } from '../../canonical/usage.ts';
import { wrong } from '../shared/request-body.ts';

/** OpenAI's limit of inputs per request. */
export const MOST_TEXTS = 2048;

/** Reads a text, texts, token ids, or lists of token ids; none may be empty. */
export function readTexts(value: Json | undefined, param: string, most: number): EmbedCall['inputs'] {
  const list = isTokenIds(value) ? [value] : Array.isArray(value) ? value : [value];
  if (list.length === 0 || list.length > most) throw wrong(param, `must hold from 1 to ${most} texts`);
  return list.map((text, place) => {
    if (typeof text === 'string' ? text !== '' : isTokenIds(text)) return text as string | number[];
    const at = Array.isArray(value) ? `${param}[${place}]` : param;
    throw wrong(at, 'must be a text that is not empty, or a list of token ids');
  });
}

function isTokenIds(value: Json | undefined): value is number[] {
  return Array.isArray(value) && value.length > 0 && value.every((id) => Number.isSafeInteger(id) && Number(id) >= 0);
}

const BYTES_PER_TOKEN = 4;

/** The provider's input count. If it is missing or zero it is counted here, because texts are never empty. */
export function embeddingUsage(call: EmbedCall, reported: Json | undefined): Usage {
  const counted = countedUsage(call);
  const input = figure(reported);
  return input > 0 ? { ...counted, input, source: 'reported' } : counted;
}

/** Tokens and characters of the texts, counted here. */
export function countedUsage({ inputs }: EmbedCall): Usage {
  const characters = inputs.reduce((sum, input) => sum + (typeof input === 'string' ? input.length : 0), 0);
  const tokens = inputs.map((input) =>
    typeof input === 'string' ? Math.ceil(Buffer.byteLength(input) / BYTES_PER_TOKEN) : input.length,
  );
  return { input: tokens.reduce((sum, count) => sum + count, 0), output: 0, characters, source: 'counted' };
}

/** A warning for each member that only the client's own format has. */
export function unsupportedExtras({ extras }: EmbedCall, own: string): string[] {
  return Object.entries(extras).flatMap(([dialect, members]) =>
    dialect === own
      ? []
      : Object.keys(members).map((name) => `\`${name}\` was dropped: the provider has no such member.`),
  );
}

/** Throws `invalid_request` if the input has anything but texts. */
export function refuseMedia({ media }: EmbedCall): void {
  if (!media) return;
  const sentence = 'This model only embeds texts: `content.parts` holds something else.';
  throw new GatewayError('invalid_request', sentence, { param: 'content.parts' });
}

/** Returns the texts of the call. Throws for token ids: they are meaningful only to models of OpenAI's format. */
export function textsOnly(call: EmbedCall): string[] {
  refuseMedia(call);
  return call.inputs.map((input) => {
    if (typeof input === 'string') return input;
    const sentence = 'This model reads texts: `input` holds token ids, which belong to the models of another provider.';
    throw new GatewayError('invalid_request', sentence, { param: 'input' });
  });
}
