/** Writes every recorded chat reply in every format, streaming and non-streaming, and reads it again. */
import type { ChatCall } from '../../src/canonical/call.ts';
import type { GatewayError } from '../../src/canonical/errors.ts';
import type { Reply, ReplyEvent } from '../../src/canonical/reply.ts';
import type { Usage } from '../../src/canonical/usage.ts';
import { bedrockConverse } from '../../src/dialects/chat/bedrock-converse/bedrock-converse.ts';
import type { Dialect, Frame, ProviderDialect } from '../../src/dialects/dialect.ts';
import { DIALECTS } from '../../src/dialects/index.ts';
import { chatCall } from '../helpers/chat-call.ts';
import { type RecordedCase, recordedCases, replyBytes, replyContentType } from '../helpers/fixtures.ts';
import { replyOf } from './dialect-laws.ts';
import { contentIn, FORMAT_TRAITS, type FormatTraits, featuresOf, omittedFrom } from './meaning.ts';

/** Names of formats in the recordings that differ from the dialects'. */
export const WIRES: { readonly [dialect: string]: string } = { gemini: 'gemini-generatecontent' };

/** The chat formats of clients. */
export const CONVERSING: readonly Dialect<ChatCall>[] = [...DIALECTS.values()].filter(converses);
/** Those, and the ones that only providers use. */
const HEARD: readonly ProviderDialect<ChatCall>[] = [...CONVERSING, bedrockConverse];
/** Formats of clients; providers may have more. */
export const TARGETS: readonly Dialect<ChatCall>[] = CONVERSING.filter(({ name }) => FORMAT_TRAITS[name]);

/** Compaction is not a chat format: of a reply it only uses the text, as a summary. */
function converses(dialect: Dialect): dialect is Dialect<ChatCall> {
  return dialect.kind === 'chat' && dialect.name !== 'openai-responses-compact';
}

/** A recorded reply and its meaning. */
export interface Source {
  recorded: RecordedCase;
  dialect: ProviderDialect<ChatCall>;
  frames: readonly Frame[];
  events: readonly ReplyEvent[];
  reply: Reply;
  /** For a failed reply or a refusal: the error for the client. */
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
  /** Its faults; empty if there are none. */
  faults: string[];
}

/** Recorded replies of every chat format. */
export function sources(): Source[] {
  return HEARD.flatMap((dialect) =>
    recordedCases(WIRES[dialect.name] ?? dialect.name).map((recorded) => sourceOf(recorded, dialect)),
  );
}

function sourceOf(recorded: RecordedCase, dialect: ProviderDialect<ChatCall>): Source {
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

/** With reasoning requested, signatures of text are carried too. */
function callFor(stream: boolean, members: Partial<ChatCall> = {}) {
  return chatCall({
    ...members,
    stream,
    reasoning: { adaptive: true },
    origin: { dialect: 'none', body: NO_BYTES, framing: 'sse' },
  });
}

const NO_BYTES = new Uint8Array(0);

/** The source in other formats, streaming and non-streaming; in its own format as passed through. */
export function translationsOf(source: Source): Translation[] {
  return translationsInto(TARGETS, source);
}

interface Wanted {
  /** Members of the client's call. */
  call?: Partial<ChatCall>;
  /** The billed usage, if the provider reported none. */
  bill?: Usage;
}

/** The same for these formats only. */
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
  // A failure before the reply has begun is an error response; so is any failure of a non-streaming response.
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
  const traits = FORMAT_TRAITS[target.name];
  if (traits) translation.faults.push(...faultsOf(translation, traits));
  return translation;
}

/** When read again it has the same meaning, and losses are reported. */
function faultsOf(
  { source, target, stream, contentType, body, warnings }: Translation,
  traits: FormatTraits,
): string[] {
  const reader = target.reader(callFor(stream), contentType, {});
  const events = [...reader.read(Buffer.from(body)), ...reader.end()].flatMap((frame) => frame.events);
  const last = events.at(-1);
  if (source.error || isFailure(source, target))
    return last?.type === 'error' ? [] : ['an incomplete reply looks complete'];
  if (last?.type !== 'reply-end') return [`reads as ending in ${JSON.stringify(last)}`];
  const faults: string[] = [];
  const expected = contentIn(source.reply, traits);
  const read = contentIn(replyOf(events), traits);
  // Without a provider's report ours is an estimate or absent.
  if (!expected.usage) read.usage = undefined;
  for (const [index, choice] of expected.choices.entries()) {
    const again = read.choices[index];
    for (const member of Object.keys(choice) as (keyof typeof choice)[]) {
      if (member === 'signatures' && isAmong(choice.signatures, again?.signatures ?? [])) continue;
      if (Bun.deepEquals(choice[member], again?.[member])) continue;
      faults.push(`choice ${index}: ${member} was ${shown(choice[member])} and is ${shown(again?.[member])}`);
    }
  }
  if (read.choices.length > expected.choices.length) faults.push(`${read.choices.length} choices`);
  if (!Bun.deepEquals(expected.usage, read.usage))
    faults.push(`usage was ${shown(expected.usage)} and is ${shown(read.usage)}`);
  const isOwn = target.name === source.dialect.name;
  const reported = warnings.join(' ').toLowerCase();
  for (const word of isOwn ? [] : omittedFrom(source.reply, traits, target.name)) {
    if (!reported.includes(word.toLowerCase())) faults.push(`does not report what became of: ${word}`);
  }
  return faults;
}

/** In that format a call that cannot be read fails the whole reply. */
export function isFailure({ reply }: Source, target: Dialect<ChatCall>): boolean {
  return target.name === 'openai-responses' && reply.choices[0]?.finish?.reason === 'broken-call';
}

/** A signature may come late, or twice. */
function isAmong(wanted: readonly string[], found: readonly string[]): boolean {
  return wanted.every((signature) => found.includes(signature)) && found.length >= wanted.length;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'absent';
  return text.length > 300 ? `${text.slice(0, 140)} … ${text.slice(-140)}` : text;
}
