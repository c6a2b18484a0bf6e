/** A client's own body for a provider of the same format. Members that need no change stay byte for byte. */

import type { ChatCall, Part } from '../../../canonical/call.ts';
import { isObject, type Json } from '../../../canonical/json.ts';
import type { Written } from '../../dialect.ts';
import { adjust } from '../../shared/adjust.ts';
import { OwnBody } from '../../shared/outgoing-body.ts';
import type { Quirks } from '../../shared/quirks.ts';
import { expandedItem } from './conversation/compaction-item.ts';
import { keptHere } from './conversation/kept-here.ts';
import { isOwn, unwrapped } from './signatures.ts';

export function passCall(call: ChatCall, model: string, quirks: Quirks): Written {
  const body = new OwnBody(call.origin.body);
  const warnings = new Set<string>();
  if (model !== call.model) body.set('model', model);
  for (const [member, value] of Object.entries(keptHere(call, model))) body.set(member, value);
  if (call.messages.some(({ parts }) => parts.some(isCarried))) {
    const input = body.get('input');
    if (Array.isArray(input)) body.set('input', withOwnSignatures(input, call.thread?.owner, warnings));
  }
  adjust(body, call, model, quirks, warnings);
  return { body: body.encode(), warnings: [...warnings] };
}

/** The signature is wrapped: it belongs to another format, or only to its owner. */
function isCarried(part: Part): boolean {
  return (
    'signature' in part &&
    part.signature !== undefined &&
    (!isOwn(part.signature) || part.signature.owner !== undefined)
  );
}

/** Drops signatures of other providers that the client sent back, and expands the gateway's compaction items. */
export function withOwnSignatures(input: readonly Json[], owner: string | undefined, warnings: Set<string>): Json[] {
  const kept = input.flatMap((item) =>
    isObject(item) ? (expandedItem(item) ?? unwrapped(item, owner) ?? []) : [item],
  );
  if (kept.length < input.length) {
    warnings.add('Earlier thinking was dropped: the model accepts only thinking that it signed itself.');
  }
  return kept;
}
