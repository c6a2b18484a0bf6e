/** A client's own chat body for a provider of the same format. Members that need no change stay byte for byte. */

import type { ChatCall } from '../../../canonical/call.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import { isTextOnly } from '../../../canonical/text-only.ts';
import type { Quirks, Written } from '../../dialect.ts';
import { adjust } from '../../shared/adjust.ts';
import { OwnBody } from '../../shared/outgoing-body.ts';
import { readCarriedSignature } from '../carried-signature.ts';
import { OPENAI_CHAT } from '../names.ts';
import { ADJUSTMENTS } from './adjust.ts';

export function passCall(call: ChatCall, model: string, quirks: Quirks): Written {
  const body = new OwnBody(call.origin.body);
  const warnings = new Set<string>();
  if (model !== call.model) body.set('model', model);
  if (!isTextOnly(call) && hasForeignSignatures(call)) {
    const messages = body.get('messages');
    for (const message of Array.isArray(messages) ? messages : []) if (isObject(message)) dropOtherSignatures(message);
    body.set('messages', messages);
  }
  adjust(body, call, model, quirks, warnings, ADJUSTMENTS);
  return { body: body.encode(), warnings: warnings.size > 0 ? [...warnings] : [] };
}

function hasForeignSignatures({ messages }: ChatCall): boolean {
  for (const { parts } of messages)
    for (const part of parts)
      if ('signature' in part && part.signature !== undefined && part.signature.dialect !== OPENAI_CHAT) return true;
  return false;
}

/** Removes reasoning signatures of other providers that the client sent back. */
function dropOtherSignatures(message: JsonObject): void {
  if (Array.isArray(message.reasoning_details)) {
    const own = message.reasoning_details.filter(
      (detail) => !isObject(detail) || !isCarried(detail.signature ?? detail.data),
    );
    if (own.length > 0) message.reasoning_details = own;
    else delete message.reasoning_details;
  }
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls : [];
  for (const carrier of [message, ...calls]) {
    if (!isObject(carrier) || !isObject(carrier.extra_content)) continue;
    const { google } = carrier.extra_content;
    if (isObject(google) && isCarried(google.thought_signature)) delete carrier.extra_content;
  }
}

function isCarried(encoded: Json | undefined): boolean {
  return typeof encoded === 'string' && readCarriedSignature(encoded) !== undefined;
}
