/** Writes a message, streaming or not, from events, or passes the provider's bytes on. */
import type { ChatCall } from '../../../canonical/call.ts';
import type { GatewayError } from '../../../canonical/errors.ts';
import type { JsonObject } from '../../../canonical/json.ts';
import type { Reply } from '../../../canonical/reply.ts';
import type { Usage } from '../../../canonical/usage.ts';
import type { Frame, Writer } from '../../dialect.ts';
import { anthropicErrorType } from '../../shared/error-bodies.ts';
import { estimateUsage } from '../../shared/estimate-usage.ts';
import { memberSpan, replaceMember } from '../../wire/json.ts';
import { ANTHROPIC_MESSAGES } from '../names.ts';
import { PassingJsonWriter } from '../reply/json-writer.ts';
import { ReplyLosses, type ReplySupport, warningComment } from '../reply/losses.ts';
import { shownCitation } from './citations.ts';
import { writeFinish } from './finish.ts';
import { MessageFrame } from './read-reply.ts';
import { replyBlocks } from './reply-blocks.ts';
import { writeTier, writeUsage } from './usage.ts';
import { BlockStreamBuilder, eventText, messageId } from './write-stream.ts';

/** What the format can express in a reply. */
const REPLY_SUPPORT: ReplySupport = {
  dialect: ANTHROPIC_MESSAGES,
  without: { audio: 'was sent as its transcript: the format has no audio' },
  logprobs: [],
  shows: (citation) => shownCitation(citation) !== undefined,
  extras: ['service_tier'],
  oneTextSignature: false,
  severalChoices: false,
  stopSequence: true,
  explains: ['refusal', 'content-filter'],
};

const NO_BYTES = new Uint8Array(0);
const encoder = new TextEncoder();
const KEEP_ALIVE = encoder.encode(eventText({ type: 'ping' }));

export function createWriter(call: ChatCall): Writer {
  return call.stream ? streamWriter(call) : new MessagesNonStreamingWriter(call);
}

function streamWriter(call: ChatCall): Writer {
  let script: BlockStreamBuilder | undefined;
  let billed: Usage | undefined;
  const losses = new ReplyLosses(REPLY_SUPPORT);
  return {
    contentType: 'text/event-stream; charset=utf-8',
    get warnings() {
      return losses.warnings;
    },
    write(frame) {
      script ??= new BlockStreamBuilder(call);
      losses.see(frame.events);
      return encoder.encode(script.write(frame.events));
    },
    pass: (frame) => passed(frame, call.model),
    bill(usage) {
      billed = usage;
    },
    end() {
      if (!script) return NO_BYTES;
      if (billed) script.bill(billed);
      return encoder.encode(warningComment(losses.warnings) + script.end());
    },
    fail: (error) => encoder.encode(eventText({ type: 'error', error: errorObject(error) })),
    keepAlive: () => KEEP_ALIVE,
  };
}

class MessagesNonStreamingWriter extends PassingJsonWriter {
  constructor(call: ChatCall) {
    super(call, REPLY_SUPPORT);
  }

  protected override rewritten(frame: Frame): Uint8Array {
    return passed(frame, this.call.model);
  }

  protected override usage(usage: Usage): JsonObject {
    return writeUsage(usage);
  }

  protected override body(reply: Reply): JsonObject {
    return messageOf(this.call, reply);
  }

  protected override errorBody(error: GatewayError): object {
    return { type: 'error', error: errorObject(error) };
  }
}

/** The format has one choice: the first. */
function messageOf(call: ChatCall, reply: Reply): JsonObject {
  const [choice] = reply.choices;
  const parts = choice?.parts ?? [];
  const seen = {
    call: parts.some((part) => part.opens.type === 'tool-call'),
    refusal: parts.some((part) => part.opens.type === 'refusal'),
  };
  return {
    id: messageId(reply.id),
    type: 'message',
    role: 'assistant',
    model: call.model,
    content: parts.flatMap((part): JsonObject[] => replyBlocks(call, part)),
    ...writeFinish(choice?.finish, seen),
    usage: {
      ...writeUsage(
        reply.usage ??
          estimateUsage(
            call,
            parts.reduce((sum, { content }) => sum + content.length, 0),
          ),
      ),
      ...writeTier(reply.extras),
    },
  };
}

/** The provider's bytes with the model name that the client requested. */
function passed(frame: Frame, model: string): Uint8Array {
  if (!(frame instanceof MessageFrame)) return frame.bytes;
  if (frame.kind === 'useless') return NO_BYTES;
  const bytes = frame.normalized === undefined ? frame.bytes : encoder.encode(frame.normalized);
  if (frame.kind === 'event') return bytes;
  const message = frame.kind === 'start' ? memberSpan(bytes, 'message', frame.jsonStart)?.start : frame.jsonStart;
  return message === undefined ? bytes : replaceMember(bytes, 'model', model, message);
}

function errorObject(error: GatewayError): JsonObject {
  return { type: anthropicErrorType(error), message: error.message };
}
