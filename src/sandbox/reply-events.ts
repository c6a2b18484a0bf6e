/** The sandbox's answers as the events of a reply: a token each, choices in turns. */
import type { ChatCall } from '../canonical/call.ts';
import type { ReplyEvent } from '../canonical/reply.ts';
import type { Usage } from '../canonical/usage.ts';
import { type Answer, countTokens, PICTURE_TOKENS } from './answer.ts';
import { countInput, ownSeal } from './conversation.ts';

/** What a reply is made of. */
interface Told extends ReplyHead {
  call: ChatCall;
  answers: readonly Answer[];
}

/** What every reply has. */
export interface ReplyHead {
  /** Names the reply: the same call has the same one. */
  key: string;
  id: string;
  createdSeconds: number;
}

/** Groups of events that belong together, in order: the first holds the start and the input's size. */
export function* replyEvents(told: Told): Generator<ReplyEvent[]> {
  const { call, id, createdSeconds, answers } = told;
  const usage = usageOf(call, answers);
  yield [
    { type: 'reply-start', id, model: call.model, createdSeconds },
    { type: 'usage', usage: { ...usage, output: 0, source: 'partial' } },
  ];
  const running = answers.map((answer, choice) => choiceEvents(told, answer, choice));
  while (running.length > 0) {
    for (const one of [...running]) {
      const { value, done } = one.next();
      if (done) running.splice(running.indexOf(one), 1);
      else yield value;
    }
  }
  yield [{ type: 'usage', usage }];
  yield [{ type: 'reply-end' }];
}

function* choiceEvents({ call, key, createdSeconds }: Told, answer: Answer, choice: number): Generator<ReplyEvent[]> {
  let part = -1;
  const open = (opens: Extract<ReplyEvent, { type: 'part-start' }>['opens']): ReplyEvent => {
    part++;
    return { type: 'part-start', choice, part, opens };
  };
  const delta = (text: string): ReplyEvent => ({ type: 'part-delta', choice, part, delta: text });
  const end = (): ReplyEvent => ({ type: 'part-end', choice, part });
  const { reasoning, text, refusal, calls, picture, sound } = answer;
  if (reasoning.length > 0) {
    yield [open({ type: 'reasoning' })];
    // Hidden thoughts are counted and proved all the same.
    if (call.reasoning?.summary !== 'none') for (const token of reasoning) yield [delta(token)];
    const { dialect } = call.origin;
    if (SEALING.has(dialect))
      yield [{ type: 'part-seal', choice, part, seal: { dialect, value: ownSeal(`${key}${choice}`) } }];
    yield [end()];
  }
  const texts = [
    [{ type: 'text' }, text],
    [{ type: 'refusal' }, refusal],
  ] as const;
  for (const [opens, tokens] of texts) {
    if (tokens.length === 0) continue;
    yield [open(opens)];
    for (const token of tokens) yield [delta(token), ...logprobsOf(call, choice, part, token)];
    yield [end()];
  }
  if (picture) yield [open({ type: 'image', mimeType: 'image/png' }), delta(base64(picture)), end()];
  if (sound) {
    const id = `audio_${key}${choice}`;
    yield [open({ type: 'audio', id, mimeType: sound.mimeType, expiresAtSeconds: createdSeconds + 3600 })];
    yield [{ type: 'part-transcript', choice, part, delta: sound.words }];
    for (const piece of piecesOf(sound.bytes)) yield [delta(base64(piece))];
    yield [end()];
  }
  for (const { id, name, custom, input } of calls) {
    yield [open({ type: 'tool-call', id, name, ...(custom && { custom }) })];
    for (const token of input) yield [delta(token)];
    yield [end()];
  }
  yield [{ type: 'choice-end', choice, finish: answer.finish }];
}

/** Formats whose vendors prove what their models thought. */
const SEALING: ReadonlySet<string> = new Set(['anthropic-messages', 'gemini', 'openai-responses']);

function logprobsOf({ sampling, completion }: ChatCall, choice: number, part: number, token: string): ReplyEvent[] {
  if (!sampling.logprobs && completion?.logprobs === undefined) return [];
  const row = { token, logprob: 0, bytes: [...Buffer.from(token)], top_logprobs: [] };
  return [{ type: 'part-logprobs', choice, part, logprobs: [row] }];
}

export const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');

/** Of a length whose base64 has no padding: the pieces' texts join to the whole's. */
const PIECE_BYTES = 30_000;

function* piecesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

function usageOf(call: ChatCall, answers: readonly Answer[]): Usage {
  const { text, image, audio } = countInput(call);
  const sum = (count: (answer: Answer) => number) => answers.reduce((total, answer) => total + count(answer), 0);
  const shares = {
    imageInput: image,
    audioInput: audio,
    reasoning: sum(({ reasoning }) => reasoning.length),
    imageOutput: sum(({ picture }) => (picture ? PICTURE_TOKENS : 0)),
    audioOutput: sum(({ sound }) => sound?.tokens ?? 0),
  };
  const said = Object.fromEntries(Object.entries(shares).filter(([, count]) => count > 0));
  return { input: text + image + audio, output: sum(countTokens), ...said, source: 'reported' };
}
