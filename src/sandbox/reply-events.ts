/** The sandbox's answers as reply events: one token each, choices in turn. */
import type { ChatCall } from '../canonical/call.ts';
import type { Finish, ReplyEvent } from '../canonical/reply.ts';
import type { Usage } from '../canonical/usage.ts';
import { IMAGE_TOKENS, type SandboxAnswer } from './answer.ts';
import { countInput, sandboxSignature } from './conversation.ts';
import { ceilingOf, OutputTokens, untilStop } from './output.ts';
import { tokensIn } from './tokens.ts';

/** The parts of a reply. */
interface ReplyPlan extends ReplyHead {
  call: ChatCall;
  answers: readonly SandboxAnswer[];
}

/** What every reply has. */
export interface ReplyHead {
  /** A unique id of the reply. */
  key: string;
  id: string;
  createdSeconds: number;
}

/** Groups of events in order; the first has the start and the input tokens. Each group is generated when it is read. */
export function replyEvents(plan: ReplyPlan): Generator<ReplyEvent[]> {
  return allEvents(plan, inputOf(plan.call));
}

function* allEvents(plan: ReplyPlan, input: ReturnType<typeof inputOf>): Generator<ReplyEvent[]> {
  const { call, id, createdSeconds, answers } = plan;
  yield [
    { type: 'reply-start', id, model: call.model, createdSeconds },
    { type: 'usage', usage: { ...input, output: 0, source: 'partial' } },
  ];
  const ceiling = ceilingOf(call.maxOutputTokens, answers.length);
  const running = answers.map((answer, choice) => choiceEvents(plan, answer, choice, ceiling));
  const counts = { reasoning: 0, imageOutput: 0, audioOutput: 0 };
  let output = 0;
  while (running.length > 0) {
    for (const one of [...running]) {
      const { value, done } = one.next();
      if (!done) {
        yield value;
        continue;
      }
      running.splice(running.indexOf(one), 1);
      output += value.output;
      counts.reasoning += value.reasoning;
      counts.imageOutput += value.imageOutput;
      counts.audioOutput += value.audioOutput;
    }
  }
  const usage: Usage = { ...input, output, ...counted(counts), source: 'reported' };
  yield [{ type: 'usage', usage }];
  yield [{ type: 'reply-end' }];
}

/** The usage of a choice. */
type ChoiceCount = Required<Pick<Usage, 'output' | 'reasoning' | 'imageOutput' | 'audioOutput'>>;

function* choiceEvents(
  plan: ReplyPlan,
  answer: SandboxAnswer,
  choice: number,
  ceiling: number,
): Generator<ReplyEvent[], ChoiceCount> {
  const allowance = new OutputTokens(ceiling);
  const parts = new Parts(choice);
  yield* thoughts(plan, answer, parts, allowance);
  const reasoning = allowance.spent;
  const stop = yield* texts(plan, answer, parts, allowance);
  const { image, audio, calls } = answer;
  if (image) yield parts.whole({ type: 'image', mimeType: 'image/png' }, base64(image()));
  if (audio) yield* audioOf(plan, audio, parts);
  yield* callEvents(calls, parts, allowance);
  yield [{ type: 'choice-end', choice, finish: finishOf(answer, allowance, stop) }];
  const imageOutput = image ? IMAGE_TOKENS : 0;
  const audioOutput = audio?.tokens ?? 0;
  return { output: allowance.spent + imageOutput + audioOutput, reasoning, imageOutput, audioOutput };
}

/** The events of a choice's parts, numbered in the order they open. */
class Parts {
  readonly choice: number;
  part = -1;

  constructor(choice: number) {
    this.choice = choice;
  }

  open(opens: Extract<ReplyEvent, { type: 'part-start' }>['opens']): ReplyEvent {
    this.part++;
    return { type: 'part-start', choice: this.choice, part: this.part, opens };
  }

  delta(delta: string): ReplyEvent {
    return { type: 'part-delta', choice: this.choice, part: this.part, delta };
  }

  end(): ReplyEvent {
    return { type: 'part-end', choice: this.choice, part: this.part };
  }

  whole(opens: Extract<ReplyEvent, { type: 'part-start' }>['opens'], content: string): ReplyEvent[] {
    return [this.open(opens), this.delta(content), this.end()];
  }
}

function* thoughts(
  { call, key }: ReplyPlan,
  { reasoning }: SandboxAnswer,
  parts: Parts,
  allowance: OutputTokens,
): Generator<ReplyEvent[]> {
  let isOpen = false;
  for (const token of allowance.take(reasoning)) {
    if (!isOpen) yield [parts.open({ type: 'reasoning' })];
    isOpen = true;
    // Hidden reasoning is counted and signed too.
    if (call.reasoning?.summary !== 'none') yield [parts.delta(token)];
  }
  if (!isOpen) return;
  const { choice, part } = parts;
  const { dialect } = call.origin;
  if (SIGNING_FORMATS.has(dialect))
    yield [
      { type: 'part-signature', choice, part, signature: { dialect, value: sandboxSignature(`${key}${choice}`) } },
    ];
  yield [parts.end()];
}

/** Returns the stop sequence that ended the text. */
function* texts(
  { call }: ReplyPlan,
  { text, refusal, stops }: SandboxAnswer,
  parts: Parts,
  allowance: OutputTokens,
): Generator<ReplyEvent[], string | undefined> {
  let stop: string | undefined;
  for (const [type, tokens] of [
    ['text', untilStop({ [Symbol.iterator]: () => text }, stops)],
    ['refusal', refusal],
  ] as const) {
    let isOpen = false;
    const taken = allowance.take<string | undefined>(tokens);
    for (let next = taken.next(); ; next = taken.next()) {
      if (next.done) {
        stop ??= next.value;
        break;
      }
      if (!isOpen) yield [parts.open({ type })];
      isOpen = true;
      yield [parts.delta(next.value), ...logprobsOf(call, parts.choice, parts.part, next.value)];
    }
    if (isOpen) yield [parts.end()];
  }
  return stop;
}

function* audioOf({ key, createdSeconds }: ReplyPlan, audio: NonNullable<SandboxAnswer['audio']>, parts: Parts) {
  const { choice } = parts;
  const { mimeType, words } = audio;
  const expiresAtSeconds = createdSeconds + AUDIO_SECONDS;
  yield [parts.open({ type: 'audio', id: `audio_${key}${choice}`, mimeType, expiresAtSeconds })];
  yield [{ type: 'part-transcript' as const, choice, part: parts.part, delta: words }];
  for (const piece of piecesOf(audio.pieces(), PIECE_BYTES)) yield [parts.delta(base64(piece))];
  yield [parts.end()];
}

function* callEvents(calls: SandboxAnswer['calls'], parts: Parts, allowance: OutputTokens): Generator<ReplyEvent[]> {
  for (const { id, name, custom, input } of calls) {
    if (allowance.isSpent) {
      allowance.isOver = true;
      return;
    }
    yield [parts.open({ type: 'tool-call', id, name, ...(custom && { custom }) })];
    for (const token of allowance.take(tokensIn(input))) yield [parts.delta(token)];
    yield [parts.end()];
  }
}

function finishOf({ finish }: SandboxAnswer, { isOver }: OutputTokens, stop: string | undefined): Finish {
  if (isOver) return { reason: 'length' };
  return stop === undefined ? { reason: finish } : { reason: 'stop-sequence', stopSequence: stop };
}

/** Formats whose providers sign the reasoning of their models. */
const SIGNING_FORMATS: ReadonlySet<string> = new Set(['anthropic-messages', 'gemini', 'openai-responses']);

function logprobsOf({ sampling, completion }: ChatCall, choice: number, part: number, token: string): ReplyEvent[] {
  if (!sampling.logprobs && completion?.logprobs === undefined) return [];
  const row = { token, logprob: 0, bytes: [...Buffer.from(token)], top_logprobs: [] };
  return [{ type: 'part-logprobs', choice, part, logprobs: [row] }];
}

export const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');

/** The stated expiry of audio in a chat. */
const AUDIO_SECONDS = 3600;
/** A multiple of three, so that the base64 of the pieces can be joined. */
const PIECE_BYTES = 30_000;

/** Splits the bytes into pieces of this length; the last may be shorter. */
export function* piecesOf(bytes: Iterable<Uint8Array>, length: number): Generator<Uint8Array> {
  let held = new Uint8Array(length);
  let filled = 0;
  for (const piece of bytes) {
    for (let at = 0; at < piece.length; ) {
      const part = piece.subarray(at, at + length - filled);
      held.set(part, filled);
      at += part.length;
      filled += part.length;
      if (filled < length) continue;
      yield held;
      held = new Uint8Array(length);
      filled = 0;
    }
  }
  if (filled > 0) yield held.subarray(0, filled);
}

/** The billed input. */
function inputOf(call: ChatCall): Pick<Usage, 'input' | 'imageInput' | 'audioInput'> {
  const { text, image, audio } = countInput(call);
  return { input: text + image + audio, ...counted({ imageInput: image, audioInput: audio }) };
}

function counted<T extends { [name: string]: number }>(counts: T): Partial<T> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0)) as Partial<T>;
}
