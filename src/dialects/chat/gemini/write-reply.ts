/** Writes a generateContent client's bytes: passes frames of this format on, and writes frames of other formats. */

import type { ChatCall } from '../../../canonical/call.ts';
import type { GatewayError } from '../../../canonical/errors.ts';
import { newId } from '../../../canonical/id.ts';
import type { JsonObject } from '../../../canonical/json.ts';
import type { FinishReason, Reply, ReplyEvent } from '../../../canonical/reply.ts';
import type { Usage } from '../../../canonical/usage.ts';
import type { Frame, Writer } from '../../dialect.ts';
import { googleErrorObject } from '../../shared/error-bodies.ts';
import { addToMember, joinBytes, replaceMember } from '../../wire/json.ts';
import { GEMINI } from '../names.ts';
import { encodeJson, JsonWriter } from '../reply/json-writer.ts';
import { ReplyLosses, type ReplySupport } from '../reply/losses.ts';
import { saysRefusal } from '../reply/refusal.ts';
import { writeFinish } from './finish.ts';
import { isShown, writeGrounding } from './parts/grounding.ts';
import { writeLogprobs } from './parts/logprobs.ts';
import { argsOf, writePart } from './parts/write-parts.ts';
import { AnswerFrame } from './read-reply.ts';
import { writeTier, writeUsage } from './usage.ts';
import { CandidateBuilder } from './write-stream.ts';

const ENDS = [
  'stop',
  'stop-sequence',
  'length',
  'tool-calls',
  'content-filter',
  'refusal',
  'pause',
  'broken-call',
  'other',
] as const satisfies readonly FinishReason[];

/** What the format can express in a reply. */
const REPLY_SUPPORT: ReplySupport = {
  dialect: GEMINI,
  without: {},
  logprobs: ['text', 'refusal', 'reasoning', 'tool-call', 'audio', 'image', 'native'],
  shows: isShown,
  extras: ['service_tier'],
  oneTextSignature: false,
  severalChoices: true,
  stopSequence: false,
  explains: ENDS,
};

const NO_BYTES: Uint8Array = new Uint8Array(0);
const encoder = new TextEncoder();
/** A line end, which all libraries skip. A comment would end the stream for the Python library. */
const KEEP_ALIVE = encoder.encode('\r\n');
const MODEL = 'modelVersion';
const USAGE = 'usageMetadata';

export function createWriter(call: ChatCall): Writer {
  if (!call.stream) return new GeminiNonStreamingWriter(call);
  return new GeminiStreamWriter(call, call.origin.framing === 'json-array' ? arrayFraming() : SSE_FRAMING);
}

/** What is written around the replies of a stream. */
interface GeminiFraming {
  readonly contentType: string;
  /** Whether an event of the provider's stream can be passed on unchanged. */
  readonly takesEvents: boolean;
  before(): string;
  readonly after: string;
  end(): string;
}

const SSE_FRAMING: GeminiFraming = {
  contentType: 'text/event-stream',
  takesEvents: true,
  before: () => 'data: ',
  after: '\r\n\r\n',
  end: () => '',
};

function arrayFraming(): GeminiFraming {
  let isBegun = false;
  const before = () => {
    const separator = isBegun ? ',\r\n' : '[';
    isBegun = true;
    return separator;
  };
  return {
    contentType: 'application/json',
    takesEvents: false,
    before,
    after: '',
    end: () => (isBegun ? ']' : '[]'),
  };
}

class GeminiStreamWriter implements Writer {
  readonly contentType: string;
  /** The Python library `google-genai` reads every line that is not empty as JSON. */
  readonly refusesComments = true;
  readonly #call: ChatCall;
  readonly #framing: GeminiFraming;
  readonly #candidates = new Map<number, CandidateBuilder>();
  readonly #losses = new ReplyLosses(REPLY_SUPPORT);
  #head: JsonObject = {};
  #tier: JsonObject = {};
  #usage: Usage | undefined;
  #passed = false;
  #billed: Usage | undefined;

  constructor(call: ChatCall, framing: GeminiFraming) {
    this.contentType = framing.contentType;
    this.#call = call;
    this.#framing = framing;
  }

  /** Not in the stream itself: a comment would break the Python library. */
  get warnings(): readonly string[] {
    return this.#losses.warnings;
  }

  write(frame: Frame): Uint8Array {
    this.#losses.see(frame.events);
    for (const event of frame.events) this.#take(event);
    const candidates: JsonObject[] = [];
    for (const [index, script] of this.#candidates) {
      const parts = script.pending();
      if (parts.length > 0) candidates.push({ content: { role: 'model', parts }, index });
    }
    return candidates.length > 0 ? this.#answer({ candidates, ...this.#head }) : NO_BYTES;
  }

  #take(event: ReplyEvent): void {
    if ('choice' in event) this.#scriptAt(event.choice).take(event);
    else if (event.type === 'usage') this.#usage = event.usage;
    else if (event.type === 'reply-start') {
      this.#head = headOf(event, this.#call.model);
      this.#tier = writeTier(event.extras);
    }
  }

  #scriptAt(choice: number): CandidateBuilder {
    let script = this.#candidates.get(choice);
    if (!script) {
      script = new CandidateBuilder();
      this.#candidates.set(choice, script);
    }
    return script;
  }

  pass(frame: Frame): Uint8Array {
    if (!(frame instanceof AnswerFrame) || frame.kind === 'whole') return this.write(frame);
    this.#passed = true;
    if (this.#billed) return this.#passedWithUsage(frame, this.#billed);
    switch (frame.kind) {
      case 'blank':
        return this.#framing.takesEvents ? frame.bytes : NO_BYTES;
      case 'useless':
        return NO_BYTES;
      case 'event':
        if (this.#framing.takesEvents) return replaceMember(frame.bytes, MODEL, this.#call.model, frame.jsonStart);
        return this.#reframed(frame);
      case 'answers':
        if (!frame.normalized) return this.#reframed(frame);
        return joinBytes(frame.normalized.map((answer) => this.#answer(named(answer, this.#call.model))));
      default:
        return frame.kind satisfies never;
    }
  }

  bill(usage: Usage): void {
    this.#billed = usage;
  }

  /** The last reply, with the usage added that its provider did not report. */
  #passedWithUsage({ kind, bytes, jsonStart, jsonEnd, normalized }: AnswerFrame, usage: Usage): Uint8Array {
    const counts = writeUsage(usage);
    if (kind === 'event' || (kind === 'answers' && !normalized)) {
      const json = replaceMember(bytes.subarray(jsonStart, jsonEnd), MODEL, this.#call.model);
      return this.#framed(addToMember(json, USAGE, counts));
    }
    const answers = normalized?.map((answer) => named(answer, this.#call.model)) ?? [{}];
    const last = answers.length - 1;
    const withCounts = answers.map((answer, i) => (i < last ? answer : { ...answer, [USAGE]: counts }));
    return joinBytes(withCounts.map((answer) => this.#answer(answer)));
  }

  #reframed({ bytes, jsonStart, jsonEnd }: AnswerFrame): Uint8Array {
    return this.#framed(replaceMember(bytes.subarray(jsonStart, jsonEnd), MODEL, this.#call.model));
  }

  #framed(json: Uint8Array): Uint8Array {
    return joinBytes([encoder.encode(this.#framing.before()), json, encoder.encode(this.#framing.after)]);
  }

  end(): Uint8Array {
    if (this.#passed) return encoder.encode(this.#framing.end());
    const candidates = [...this.#candidates].map(([index, script]) => ({ ...script.closing(), index }));
    this.#usage = this.#billed ?? this.#usage;
    const usage = this.#usage && { usageMetadata: { ...writeUsage(this.#usage), ...this.#tier } };
    const last = this.#answer({ candidates, ...usage, ...this.#head });
    // The array's end is only known after its last element.
    return joinBytes([last, encoder.encode(this.#framing.end())]);
  }

  fail(error: GatewayError): Uint8Array {
    return this.#answer({ error: googleErrorObject(error) });
  }

  /**
   * Google's plain error without SSE framing: older libraries look for it only there. Old AI SDKs need the aborted
   * connection.
   */
  afterFail(error: GatewayError): Uint8Array {
    return this.#framing.takesEvents ? encoder.encode(JSON.stringify({ error: googleErrorObject(error) })) : NO_BYTES;
  }

  keepAlive(): Uint8Array {
    return KEEP_ALIVE;
  }

  #answer(answer: object): Uint8Array {
    return encoder.encode(this.#framing.before() + JSON.stringify(answer) + this.#framing.after);
  }
}

class GeminiNonStreamingWriter extends JsonWriter {
  constructor(call: ChatCall) {
    super(call, REPLY_SUPPORT);
  }

  override pass(frame: Frame): Uint8Array {
    if (!(frame instanceof AnswerFrame) || frame.kind !== 'whole') return this.write(frame);
    this.passed = true;
    const [normalized] = frame.normalized ?? [];
    if (this.billed) {
      const bytes = normalized ? encodeJson(normalized) : frame.bytes;
      return addToMember(replaceMember(bytes, MODEL, this.call.model), USAGE, writeUsage(this.billed));
    }
    if (normalized) return encodeJson(named(normalized, this.call.model));
    return replaceMember(frame.bytes, MODEL, this.call.model);
  }

  protected override body({ id, createdSeconds, choices, usage, extras }: Reply): JsonObject {
    const head = {
      type: 'reply-start' as const,
      id,
      model: '',
      ...(createdSeconds !== undefined && { createdSeconds }),
    };
    return {
      candidates: choices.map(writeCandidate),
      ...(usage && { usageMetadata: { ...writeUsage(usage), ...writeTier(extras) } }),
      ...headOf(head, this.call.model),
    };
  }

  protected override errorBody(error: GatewayError): object {
    return { error: googleErrorObject(error) };
  }
}

function writeCandidate({ parts, finish }: Reply['choices'][number], index: number): JsonObject {
  const brokeOff = finish?.reason === 'length';
  const whole = parts.filter(({ opens, content }) => {
    return !(brokeOff && opens.type === 'tool-call' && !opens.custom && !argsOf(content));
  });
  const written = whole.flatMap(writePart);
  const citations = parts.flatMap((part, number) =>
    (part.citations ?? []).map((citation) => ({ part: number, citation })),
  );
  return {
    content: { role: 'model', parts: written.length > 0 ? written : [{ text: '' }] },
    ...(finish && writeFinish(finish, saysRefusal(parts))),
    index,
    ...writeGrounding(citations, new Map(parts.map((part, number) => [number, part.content]))),
    ...writeLogprobs(parts.flatMap((part) => part.logprobs ?? [])),
  };
}

function headOf({ id, createdSeconds }: Extract<ReplyEvent, { type: 'reply-start' }>, model: string): JsonObject {
  return {
    [MODEL]: model,
    ...(createdSeconds !== undefined && { createTime: new Date(createdSeconds * 1000).toISOString() }),
    responseId: id || newId(''),
  };
}

function named(answer: JsonObject, model: string): JsonObject {
  return MODEL in answer ? { ...answer, [MODEL]: model } : answer;
}
