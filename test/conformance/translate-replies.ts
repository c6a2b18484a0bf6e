/** Every recorded reply of a conversation, written into every format, whole and streamed, and read again. */
import type { ChatCall } from '../../src/canonical/call.ts';
import type { GatewayError } from '../../src/canonical/errors.ts';
import type { Reply, ReplyEvent } from '../../src/canonical/reply.ts';
import type { Usage } from '../../src/canonical/usage.ts';
import { bedrockConverse } from '../../src/dialects/chat/bedrock-converse/bedrock-converse.ts';
import type { Dialect, Frame, VendorDialect } from '../../src/dialects/dialect.ts';
import { DIALECTS } from '../../src/dialects/index.ts';
import { chatCall } from '../chat-call.ts';
import { type RecordedCase, recordedCases, replyBytes, replyContentType } from '../fixtures.ts';
import { replyOf } from './dialect-laws.ts';
import { featuresOf, MANNERS, type Manner, meaningOf, unsaidOf } from './meaning.ts';

/** The recordings' words for formats that the application calls otherwise. */
export const WIRES: { readonly [dialect: string]: string } = { gemini: 'gemini-generatecontent' };

/** The formats of conversations that the application reads. */
export const CONVERSING: readonly Dialect<ChatCall>[] = [...DIALECTS.values()].filter(converses);
/** Those and the ones that providers alone speak. */
const HEARD: readonly VendorDialect<ChatCall>[] = [...CONVERSING, bedrockConverse];
/** Those that clients speak: a provider's own may be more. */
export const TARGETS: readonly Dialect<ChatCall>[] = CONVERSING.filter(({ name }) => MANNERS[name]);

/** Compacting is no conversation: of a reply it takes the text alone, as a summary. */
function converses(dialect: Dialect): dialect is Dialect<ChatCall> {
  return dialect.kind === 'chat' && dialect.name !== 'openai-responses-compact';
}

/** A recorded reply and what it means. */
export interface Source {
  recorded: RecordedCase;
  dialect: VendorDialect<ChatCall>;
  frames: readonly Frame[];
  events: readonly ReplyEvent[];
  reply: Reply;
  /** Where the reply breaks off, or is a refusal: what the client is to be told. */
  error?: GatewayError;
  features: readonly string[];
}

export interface Translation {
  source: Source;
  target: Dialect<ChatCall>;
  stream: boolean;
  status: number;
  contentType: string;
  body: string;
  warnings: readonly string[];
  /** What is wrong with it; empty where nothing is. */
  faults: string[];
}

/** Recorded replies of every format that the application reads and clients converse in. */
export function sources(): Source[] {
  return HEARD.flatMap((dialect) =>
    recordedCases(WIRES[dialect.name] ?? dialect.name).map((recorded) => sourceOf(recorded, dialect)),
  );
}

function sourceOf(recorded: RecordedCase, dialect: VendorDialect<ChatCall>): Source {
  const bytes = replyBytes(recorded);
  if (recorded.status !== 200) {
    const error = dialect.readError(recorded.status, new Headers(recorded.response_headers), bytes);
    return { recorded, dialect, frames: [], events: [], reply: replyOf([]), error, features: ['errors'] };
  }
  const reader = dialect.reader(callFor(recorded.stream), replyContentType(recorded), {});
  const frames = [...reader.read(bytes), ...reader.end()];
  const events = frames.flatMap((frame) => frame.events);
  const reply = replyOf(events);
  const last = events.at(-1);
  if (last?.type !== 'error') return { recorded, dialect, frames, events, reply, features: featuresOf(reply) };
  return { recorded, dialect, frames, events, reply, error: last.error, features: ['errors in the reply'] };
}

/** With thinking asked for, proofs of text are carried too. */
function callFor(stream: boolean, members: Partial<ChatCall> = {}) {
  return chatCall({
    ...members,
    stream,
    reasoning: { adaptive: true },
    origin: { dialect: 'none', body: NO_BYTES, framing: 'sse' },
  });
}

const NO_BYTES = new Uint8Array(0);

/** The source in another format, whole and streamed; in its own as it was recorded, passed on. */
export function translationsOf(source: Source): Translation[] {
  return translationsInto(TARGETS, source);
}

interface Wanted {
  /** Members of the client's call. */
  call?: Partial<ChatCall>;
  /** What the call is billed where its provider said nothing of it. */
  bill?: Usage;
}

/** The same in these formats alone. */
export function translationsInto(
  targets: readonly Dialect<ChatCall>[],
  source: Source,
  wanted: Wanted = {},
): Translation[] {
  return targets.flatMap((target) => {
    const isOwn = target.name === source.dialect.name;
    const ways = isOwn ? [source.recorded.stream] : [true, false];
    return ways.map((stream) => translate(source, target, stream, wanted));
  });
}

function translate(source: Source, target: Dialect<ChatCall>, stream: boolean, wanted: Wanted): Translation {
  const { events, error, frames, reply } = source;
  // What fails before the reply has begun is an answer of its own; so is all that fails in a whole one.
  const hasBegun = events.some((event) => event.type === 'part-delta' || event.type === 'choice-end');
  if (error && (!stream || !hasBegun)) {
    const { status, headers, body } = target.writeError(error, 'req_1');
    const contentType = headers['content-type'] ?? '';
    return { source, target, stream, status, contentType, body, warnings: [], faults: [] };
  }
  const writer = target.writer(callFor(stream, wanted.call));
  if (wanted.bill && !reply.usage) writer.bill?.(wanted.bill);
  const isOwn = target.name === source.dialect.name;
  const pieces = isOwn
    ? frames.map((frame) => (frame.events.some(({ type }) => type === 'error') ? NO_BYTES : writer.pass(frame)))
    : events.flatMap((event) => (event.type === 'error' ? [] : [writer.write({ bytes: NO_BYTES, events: [event] })]));
  pieces.push(error ? writer.fail(error) : writer.end());
  const body = Buffer.concat(pieces).toString();
  const { contentType, warnings } = writer;
  const translation: Translation = { source, target, stream, status: 200, contentType, body, warnings, faults: [] };
  const manner = MANNERS[target.name];
  if (manner) translation.faults.push(...faultsOf(translation, manner));
  return translation;
}

/** Read again it means what it meant, and what it cannot say is reported. */
function faultsOf({ source, target, stream, contentType, body, warnings }: Translation, manner: Manner): string[] {
  const reader = target.reader(callFor(stream), contentType, {});
  const events = [...reader.read(Buffer.from(body)), ...reader.end()].flatMap((frame) => frame.events);
  const last = events.at(-1);
  if (source.error || isFailure(source, target))
    return last?.type === 'error' ? [] : ['a reply that broke off looks complete'];
  if (last?.type !== 'reply-end') return [`reads as ending in ${JSON.stringify(last)}`];
  const faults: string[] = [];
  const meant = meaningOf(source.reply, manner);
  const read = meaningOf(replyOf(events), manner);
  // Where the provider reported none, ours is an estimate or nothing.
  if (!meant.usage) read.usage = undefined;
  for (const [index, choice] of meant.choices.entries()) {
    const again = read.choices[index];
    for (const member of Object.keys(choice) as (keyof typeof choice)[]) {
      if (member === 'proofs' && isAmong(choice.proofs, again?.proofs ?? [])) continue;
      if (Bun.deepEquals(choice[member], again?.[member])) continue;
      faults.push(`choice ${index}: ${member} was ${shown(choice[member])} and is ${shown(again?.[member])}`);
    }
  }
  if (read.choices.length > meant.choices.length) faults.push(`${read.choices.length} choices`);
  if (!Bun.deepEquals(meant.usage, read.usage))
    faults.push(`usage was ${shown(meant.usage)} and is ${shown(read.usage)}`);
  const isOwn = target.name === source.dialect.name;
  const reported = warnings.join(' ').toLowerCase();
  for (const word of isOwn ? [] : unsaidOf(source.reply, manner, target.name)) {
    if (!reported.includes(word.toLowerCase())) faults.push(`does not report what became of: ${word}`);
  }
  return faults;
}

/** A call that cannot be read is a failure of the whole there. */
export function isFailure({ reply }: Source, target: Dialect<ChatCall>): boolean {
  return target.name === 'openai-responses' && reply.choices[0]?.finish?.reason === 'broken-call';
}

/** A proof may come late, and once more. */
function isAmong(wanted: readonly string[], found: readonly string[]): boolean {
  return wanted.every((proof) => found.includes(proof)) && found.length >= wanted.length;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'absent';
  return text.length > 300 ? `${text.slice(0, 140)} … ${text.slice(-140)}` : text;
}
