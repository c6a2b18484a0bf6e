/** The answers of a storm's provider, and how much of each had been sent at any moment. */
import { type Answer, planAnswer } from '../../upstream/answer.ts';
import type { JournalEntry } from '../../upstream/scripted-upstream.ts';
import { type Plan, WORD } from './plan.ts';

/** Must never reach a client or a log. */
export const CREDENTIAL = 'sk-canary-5bd1e995c0ffee42';

/** Output tokens as reported by the provider, or that its report is unusable. */
export interface Report {
  input: number;
  output: number;
}

/** An event of a stream, and what it adds to the known facts. */
interface Event {
  bytes: unknown;
  words?: number;
  /** `undefined`: no usage; `nothing`: an unusable report. */
  usage?: Report | 'nothing';
  finishes?: boolean;
}

const HIDDEN_REASONING = 300;
const BASE = { id: 'chatcmpl-storm', created: 1_790_000_000, model: 'm' };
const REFUSAL = { error: { message: `Your key ${CREDENTIAL} may not do this.`, type: 'invalid_request_error' } };

/** The usage object on the wire and its meaning. */
function usageOf({ provider, words, reportedInput }: Plan): {
  wire: object | string | undefined;
  reported: Report | 'nothing';
} {
  const wire = (input: number, output: number, more: object = {}) => ({
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    ...more,
  });
  const reported = { input: reportedInput, output: words };
  switch (provider) {
    case 'reasoning-hidden': {
      const output = words + HIDDEN_REASONING;
      const details = { completion_tokens_details: { reasoning_tokens: HIDDEN_REASONING } };
      return { wire: wire(reportedInput, output, details), reported: { input: reportedInput, output } };
    }
    case 'usage-missing':
      return { wire: undefined, reported: 'nothing' };
    case 'usage-zero':
      return { wire: wire(0, 0), reported: 'nothing' };
    case 'usage-non-finite':
      return { wire: `{"prompt_tokens":1e999,"completion_tokens":${words},"total_tokens":1e308}`, reported: 'nothing' };
    case 'usage-huge':
      return { wire: wire(reportedInput, 1_772_656_915), reported: { input: reportedInput, output: 1_772_656_915 } };
    case 'total-huge':
      return { wire: wire(reportedInput, words, { total_tokens: 1e12 }), reported };
    default:
      return { wire: wire(reportedInput, words), reported };
  }
}

function eventsOf(plan: Plan): Event[] {
  const { provider, words } = plan;
  const { wire, reported } = usageOf(plan);
  const chunk = (choices: unknown[], more = {}) => ({ ...BASE, object: 'chat.completion.chunk', choices, ...more });
  const delta = (value: object, finish_reason: string | null = null) =>
    chunk([{ index: 0, delta: value, finish_reason }]);
  const start: Event = { bytes: delta({ role: 'assistant', content: '' }) };
  const texts = Array.from({ length: words }, (): Event => ({ bytes: delta({ content: WORD }), words: 1 }));
  const finish: Event = { bytes: delta({}, 'stop'), finishes: true };
  // Written as text, because JSON has no such numbers.
  const raw =
    typeof wire === 'string' ? JSON.stringify(chunk([], { usage: 0 })).replace('"usage":0', `"usage":${wire}`) : '';
  const usage: Event = { bytes: raw === '' ? chunk([], { usage: wire }) : `data: ${raw}\n\n`, usage: reported };
  const last = wire === undefined ? [finish] : [finish, usage];
  switch (provider) {
    case 'usage-decreasing': {
      const more = { input: plan.reportedInput, output: words + 5 };
      const early = {
        prompt_tokens: more.input,
        completion_tokens: more.output,
        total_tokens: more.input + more.output,
      };
      return [start, ...texts, { bytes: chunk([], { usage: early }), usage: more }, ...last];
    }
    case 'two-starts':
      return [start, start, ...texts, ...last];
    case 'text-after-finish':
      // Bytes after the end of a choice pass and are not part of the reply: they are not counted.
      return [start, ...texts, finish, { bytes: delta({ content: WORD }) }, usage];
    case 'unfinished':
      return [start, ...texts];
    default:
      return [start, ...texts, ...last];
  }
}

/** The answer to the request of a plan. */
export function answerTo(plan: Plan): Answer {
  const { provider, stream, paceMs, silenceMs } = plan;
  if (provider === 'refused-with-credential') return { status: 400, json: REFUSAL };
  if (provider === 'error-in-200') return { json: REFUSAL };
  if (provider === 'cut-before-headers') return { json: {}, fault: { before: 'headers', does: 'cut' } };
  const silence = silenceMs > 0 ? { fault: { before: 'headers', does: silenceMs } as const } : {};
  if (!stream) return provider === 'reset-midway' ? wholeCut(plan) : { ...wholeAnswer(plan), ...silence };
  const events = eventsOf(plan).map(({ bytes }) => bytes);
  if (provider === 'reset-midway')
    return { events, paceMs, fault: { before: Math.ceil(plan.words / 2), does: 'reset' } };
  return { events, paceMs, ...silence, ...(provider === 'unfinished' && { withoutTerminator: true }) };
}

function wholeAnswer(plan: Plan): Answer {
  if (plan.images > 0) return imageAnswer(plan);
  const { wire } = usageOf(plan);
  const message = { role: 'assistant', content: WORD.repeat(plan.words) };
  const choices = [{ index: 0, message, finish_reason: 'stop' }];
  const reply = { ...BASE, object: 'chat.completion', choices, ...(wire !== undefined && { usage: wire }) };
  if (typeof wire !== 'string') return { json: reply };
  const text = JSON.stringify({ ...reply, usage: 0 }).replace('"usage":0', `"usage":${wire}`);
  return { text, headers: { 'content-type': 'application/json' } };
}

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

function imageAnswer({ images, reportedInput }: Plan): Answer {
  const data = Array.from({ length: images }, () => ({ b64_json: PIXEL }));
  const usage = { input_tokens: reportedInput, output_tokens: 100, total_tokens: reportedInput + 100 };
  return { json: { created: BASE.created, data, usage } };
}

const wholeCut = (plan: Plan): Answer => ({
  ...wholeAnswer(plan),
  fault: { before: 0, inside: 'event', does: 'reset' },
});

/** What was known of a call at one moment of its answer. */
export interface Known {
  words: number;
  /** The last usable report so far. */
  report: Report | undefined;
  isFinished: boolean;
  /** The answer has ended normally. */
  isComplete: boolean;
}

const NOTHING: Known = { words: 0, report: undefined, isFinished: false, isComplete: false };

/** Whether the answer fails before it begins or in the middle. */
export const isFailure = ({ provider, stream }: Plan): boolean =>
  ['refused-with-credential', 'error-in-200', 'cut-before-headers', 'reset-midway'].includes(provider) ||
  (provider === 'unfinished' && stream);

/** Every moment of an answer of which this many bytes were sent, including before the first byte. */
export function moments(plan: Plan, { sentBytes }: Pick<JournalEntry, 'sentBytes'>): Known[] {
  const { steps } = planAnswer(answerTo(plan));
  const sends = steps.flatMap((step) => (step.type === 'send' ? [step.bytes.length] : []));
  const whole = sends.reduce((sum, length) => sum + length, 0);
  // A stream is complete with its `[DONE]`: a gateway that stops does not wait for the mark of the body's end.
  const isSent = sentBytes >= whole - (plan.stream ? sends.at(-1)! : 0);
  if (!plan.stream || (isFailure(plan) && plan.provider !== 'unfinished' && plan.provider !== 'reset-midway')) {
    const { reported } = usageOf(plan);
    const report = reported === 'nothing' ? undefined : reported;
    const end: Known = { words: plan.words, report, isFinished: true, isComplete: true };
    return isSent && !isFailure(plan) ? [NOTHING, end] : [NOTHING];
  }
  const known = [NOTHING];
  // The head is sent first, and an event whose sending has begun may have arrived.
  let sent = sends[0] ?? 0;
  let now = NOTHING;
  for (const [index, event] of eventsOf(plan).entries()) {
    if (sent >= sentBytes) return known;
    now = {
      words: now.words + (event.words ?? 0),
      report: event.usage === undefined ? now.report : event.usage === 'nothing' ? undefined : event.usage,
      isFinished: now.isFinished || event.finishes === true,
      isComplete: false,
    };
    known.push(now);
    sent += sends[index + 1] ?? 0;
  }
  if (plan.provider !== 'unfinished' && isSent) known.push({ ...now, isComplete: true });
  return known;
}
