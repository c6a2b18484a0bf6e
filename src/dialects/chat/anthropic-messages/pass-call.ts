/** A client's own messages request for a provider of the same format. What is not adjusted stays byte for byte. */

import type { ChatCall } from '../../../canonical/call.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import type { Written } from '../../dialect.ts';
import { adjust } from '../../shared/adjust.ts';
import { OwnBody } from '../../shared/outgoing-body.ts';
import type { Quirks } from '../../shared/quirks.ts';
import { readCarriedSignature } from '../carried-signature.ts';
import { ADJUSTMENTS } from './adjust.ts';
import { isOwn } from './thinking-blocks.ts';

export function passCall(call: ChatCall, model: string, quirks: Quirks): Written {
  const body = new OwnBody(call.origin.body);
  const warnings = new Set<string>();
  if (model !== call.model) body.set('model', model);
  if (hasOtherSignatures(call)) {
    body.set('messages', withoutForeignThinking(body.get('messages') ?? []));
    warnings.add('Earlier thinking was dropped: the model accepts only thinking that it signed itself.');
  }
  adjust(body, call, model, quirks, warnings, ADJUSTMENTS);
  return { body: body.encode(), warnings: [...warnings] };
}

/** Whether the conversation has thinking of another provider, or without a signature: this provider would reject it. */
function hasOtherSignatures({ messages }: ChatCall): boolean {
  for (const { parts } of messages) {
    for (const part of parts) {
      if (part.type === 'reasoning' && !isOwn(part.signature)) return true;
      if ((part.type === 'tool-call' || part.type === 'text') && part.signature) return true;
    }
  }
  return false;
}

function withoutForeignThinking(messages: Json): Json {
  if (!Array.isArray(messages)) return messages;
  const cleaned: Json[] = [];
  for (const message of messages) {
    if (!isObject(message) || !Array.isArray(message.content)) {
      cleaned.push(message);
      continue;
    }
    const content = message.content.filter((block) => !isObject(block) || !isForeignThinking(block));
    if (content.length > 0) cleaned.push({ ...message, content });
  }
  return cleaned;
}

function isForeignThinking({ type, signature, data }: JsonObject): boolean {
  if (type === 'thinking')
    return typeof signature !== 'string' || signature === '' || readCarriedSignature(signature) !== undefined;
  return type === 'redacted_thinking' && typeof data === 'string' && readCarriedSignature(data) !== undefined;
}
