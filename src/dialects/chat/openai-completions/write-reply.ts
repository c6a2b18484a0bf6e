/** Writes a text completion reply, streaming or not, from events, or passes the provider's bytes on. */

import type { ChatCall } from '../../../canonical/call.ts';
import type { GatewayError } from '../../../canonical/errors.ts';
import { newId } from '../../../canonical/id.ts';
import type { Json, JsonObject } from '../../../canonical/json.ts';
import type { Finish, FinishReason, Reply, ReplyEvent, ReplyPart } from '../../../canonical/reply.ts';
import type { Usage } from '../../../canonical/usage.ts';
import type { Frame, Writer } from '../../dialect.ts';
import { openaiErrorObject } from '../../shared/error-bodies.ts';
import { writeUsage } from '../../shared/openai-usage.ts';
import { joinBytes, replaceMember } from '../../wire/json.ts';
import { OPENAI_COMPLETIONS } from '../names.ts';
import { PassingJsonWriter } from '../reply/json-writer.ts';
import { ReplyLosses, type ReplySupport, warningComment } from '../reply/losses.ts';
import { saysRefusal } from '../reply/refusal.ts';
import { writeLogprobs } from './logprobs.ts';
import type { CompletionFrame } from './read-reply.ts';

const LEFT_OUT = 'was dropped: the format only has text';

/** What the format can express in a reply. */
const REPLY_SUPPORT: ReplySupport = {
  dialect: OPENAI_COMPLETIONS,
  without: {
    refusal: 'was sent as text',
    reasoning: LEFT_OUT,
    'tool-call': LEFT_OUT,
    audio: LEFT_OUT,
    image: LEFT_OUT,
  },
  logprobs: ['text', 'refusal'],
  shows: () => false,
  extras: [],
  oneTextSignature: false,
  severalChoices: true,
  stopSequence: true,
  explains: [],
};

const FINISH_WORDS = {
  stop: 'stop',
  'stop-sequence': 'stop',
  length: 'length',
  'tool-calls': 'stop',
  'content-filter': 'content_filter',
  refusal: 'content_filter',
  pause: 'stop',
  'broken-call': 'stop',
  other: 'stop',
} as const satisfies Record<FinishReason, string>;

const NO_BYTES = new Uint8Array(0);
const encoder = new TextEncoder();
const DONE = encoder.encode('data: [DONE]\n\n');
const KEEP_ALIVE = encoder.encode(': keep-alive\n\n');

export function createWriter(call: ChatCall): Writer {
  return call.stream ? streamWriter(call) : new CompletionsNonStreamingWriter(call);
}

/** The members that every object of a reply begins with. */
interface Head {
  id: string;
  created: number;
}

function headOf(call: ChatCall, event: Extract<ReplyEvent, { type: 'reply-start' }>): Head {
  return { id: completionId(event.id), created: event.createdSeconds ?? call.receivedSeconds ?? 0 };
}

/** Replaces the prefix of a chat id by that of this format. Some providers give no id. */
function completionId(id: string): string {
  if (id === '') return newId('cmpl-');
  return id.startsWith('chatcmpl-') ? `cmpl-${id.slice('chatcmpl-'.length)}` : id;
}

/** The prompt of a choice, if it must be repeated before the answer (`echo`). */
function echoOf(call: ChatCall, choice: number): string {
  if (!call.completion?.echo) return '';
  const prompt = call.completion.prompts[Math.floor(choice / (call.sampling.n ?? 1))];
  return typeof prompt === 'string' ? prompt : '';
}

function streamWriter(call: ChatCall): Writer {
  let head: Head = { id: '', created: 0 };
  let usage: Usage | undefined;
  let isBilled = false;
  const begun = new Set<number>();
  const silent = new Set<string>();
  const refused = new Set<number>();
  const tail: Uint8Array[] = [];
  const losses = new ReplyLosses(REPLY_SUPPORT);

  function chunk(choices: Json[], figures: Json): string {
    const { id, created } = head;
    const body: JsonObject = { id, object: 'text_completion', created, model: call.model, choices };
    if (call.wantsUsage) body.usage = figures;
    return `data: ${JSON.stringify(body)}\n\n`;
  }

  function choiceChunk(index: number, delta: string, end?: Finish, rows?: readonly Json[]): string {
    const text = begun.has(index) ? delta : echoOf(call, index) + delta;
    begun.add(index);
    return chunk([{ text, index, logprobs: writeLogprobs(rows), ...writeFinish(end, refused.has(index)) }], null);
  }

  function write(event: ReplyEvent): string {
    switch (event.type) {
      case 'reply-start':
        head = headOf(call, event);
        return '';
      case 'part-start':
        if (event.opens.type === 'refusal') refused.add(event.choice);
        if (!isText(event.opens)) silent.add(`${event.choice} ${event.part}`);
        return '';
      case 'part-delta':
        return silent.has(`${event.choice} ${event.part}`) ? '' : choiceChunk(event.choice, event.delta);
      case 'part-logprobs':
        if (silent.has(`${event.choice} ${event.part}`)) return '';
        return choiceChunk(event.choice, '', undefined, event.logprobs);
      case 'choice-end':
        return choiceChunk(event.choice, '', event.finish);
      case 'usage':
        if (!isBilled) usage = event.usage;
        return '';
      default:
        return '';
    }
  }

  return {
    contentType: 'text/event-stream',
    get warnings() {
      return losses.warnings;
    },
    write(frame) {
      losses.see(frame.events);
      return encoder.encode(frame.events.map(write).join(''));
    },
    pass(frame) {
      if (tail.length > 0 || frame.events.some((event) => event.type === 'reply-end')) {
        tail.push(frame.bytes);
        return NO_BYTES;
      }
      if (!call.wantsUsage && isUsageAlone(frame)) return NO_BYTES;
      return withModel(frame, call.model);
    },
    bill(billed) {
      usage = billed;
      isBilled = true;
    },
    end() {
      const passed = joinBytes(tail);
      if (passed.length > 0 && !(isBilled && call.wantsUsage)) return passed;
      const figures = call.wantsUsage && usage ? chunk([], writeUsage(usage)) : '';
      return joinBytes([encoder.encode(figures + warningComment(losses.warnings)), DONE]);
    },
    fail: (error) => encoder.encode(`data: ${JSON.stringify({ error: openaiErrorObject(error) })}\n\n`),
    keepAlive: () => KEEP_ALIVE,
  };
}

class CompletionsNonStreamingWriter extends PassingJsonWriter {
  #head: Head = { id: '', created: 0 };

  constructor(call: ChatCall) {
    super(call, REPLY_SUPPORT);
  }

  override write(frame: Frame): Uint8Array {
    for (const event of frame.events) if (event.type === 'reply-start') this.#head = headOf(this.call, event);
    return super.write(frame);
  }

  protected override rewritten(frame: Frame): Uint8Array {
    return withModel(frame, this.call.model);
  }

  protected override usage(usage: Usage): JsonObject {
    return writeUsage(usage);
  }

  protected override body(reply: Reply): JsonObject {
    const { id, created } = this.#head;
    const choices = reply.choices.map(({ parts, finish }, index) => ({
      text:
        echoOf(this.call, index) +
        parts
          .filter((part) => isText(part.opens))
          .map((part) => part.content)
          .join(''),
      index,
      logprobs: writeLogprobs(parts.flatMap((part) => (isText(part.opens) && part.logprobs) || [])),
      ...writeFinish(finish ?? { reason: 'stop' }, saysRefusal(parts)),
    }));
    const body: JsonObject = { id, object: 'text_completion', created, model: this.call.model, choices };
    if (reply.usage) body.usage = writeUsage(reply.usage);
    return body;
  }

  protected override errorBody(error: GatewayError): object {
    return { error: openaiErrorObject(error) };
  }
}

/** vLLM reports the stop sequence beside the finish reason. */
function writeFinish(finish: Finish | undefined, refused: boolean): JsonObject {
  if (!finish) return { finish_reason: null };
  const { reason, stopSequence } = finish;
  const outcome = refused && reason === 'stop' ? 'refusal' : reason;
  return { finish_reason: FINISH_WORDS[outcome], ...(stopSequence !== undefined && { stop_reason: stopSequence }) };
}

/** A refusal is written as text: the format has no member for it. */
function isText(opens: ReplyPart['opens']): boolean {
  return opens.type === 'text' || opens.type === 'refusal';
}

/** Whether the chunk has usage only. Some providers report usage in the last choice's chunk, which must be kept. */
function isUsageAlone(frame: Frame): boolean {
  return frame.events.length > 0 && frame.events.every((event) => event.type === 'usage');
}

/** The frame's bytes with the model name that the client requested. */
function withModel(frame: Frame, model: string): Uint8Array {
  const { bytes, jsonStart = -1 } = frame as Partial<CompletionFrame> & Frame;
  return jsonStart < 0 ? bytes : replaceMember(bytes, 'model', model, jsonStart);
}
