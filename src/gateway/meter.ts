/** Watches the frames of a reply go by and knows at any moment what has been consumed. */
import type { JsonObject } from '../canonical/json.ts';
import type { FinishReason, PartOpening, ReplyEvent } from '../canonical/reply.ts';
import { addUsage, type Usage } from '../canonical/usage.ts';
import { UsageCounter } from './usage-counter.ts';

/** Counts the tokens of texts. */
export type CountTexts = (texts: readonly string[]) => Promise<number[]>;

/** Items of a reply by which providers show that they ran a tool of theirs; few count them in their usage. */
const TOOL_RUN = /^(web_search|file_search|code_interpreter|x_search|collections_search|code_execution)_call$/;

function isToolRun({ type, name }: JsonObject): boolean {
  return type === 'server_tool_use' ? name === 'web_search' : typeof type === 'string' && TOOL_RUN.test(type);
}

export class Meter {
  /** The reply has come to its proper end. */
  complete = false;
  /** Something a client can use has been delivered. */
  delivered = false;
  /** There is thinking in the reply, or may be. */
  thinks = false;
  finish: FinishReason | undefined;
  /** How many choices have come to their end. */
  finished = 0;
  /** One, or one for each upstream call that the call was split into. */
  private tallies: readonly [UsageCounter, ...UsageCounter[]] = [new UsageCounter()];
  /** Choices of each. */
  private width = Number.POSITIVE_INFINITY;
  /** Parts whose deltas are no text, by choice and part. */
  private media: Map<string, 'audio' | 'image'> | undefined;
  private inputOfEach: number;

  /** `estimatedInput`: tokens, used where the provider reported nothing. */
  constructor(estimatedInput: number) {
    this.inputOfEach = estimatedInput;
  }

  /** The reply comes from several upstream calls, `width` choices of each, which `prompts` inputs are shared out to. */
  split(calls: number, width: number, prompts: number): void {
    this.tallies = [new UsageCounter(), ...Array.from({ length: calls - 1 }, () => new UsageCounter())];
    this.width = width;
    this.inputOfEach = Math.ceil(this.inputOfEach / prompts);
  }

  /** Another for the same call, that has seen nothing yet. */
  anew(): Meter {
    const meter = new Meter(this.inputOfEach);
    meter.tallies = [new UsageCounter(), ...this.tallies.slice(1).map(() => new UsageCounter())];
    meter.width = this.width;
    return meter;
  }

  /** What one of several upstream calls has reported; the last report counts. */
  seeUsageOf(call: number, usage: Usage): void {
    const usageCounter = this.tallies[call];
    if (usageCounter) usageCounter.reported = usage;
  }

  /** One of several upstream calls has come to its end. */
  seeEndOf(call: number): void {
    const usageCounter = this.tallies[call];
    if (usageCounter) usageCounter.ended = true;
  }

  /** Of every upstream call its provider has said what it used. */
  get isReported(): boolean {
    return this.tallies.every(({ reported }) => reported !== undefined);
  }

  see(events: readonly ReplyEvent[]): void {
    for (const event of events) {
      switch (event.type) {
        case 'part-delta':
          this.delivered = true;
          this.seeDelta(event.choice, event.part, event.delta);
          break;
        case 'part-transcript':
          this.delivered = true;
          this.tallyOf(event.choice).addText(event.delta);
          break;
        case 'part-start':
          this.seeOpening(event.choice, event.part, event.opens);
          break;
        case 'part-seal':
          this.thinks = true;
          break;
        case 'usage':
          // Of several upstream calls each has told its own.
          if (this.tallies.length === 1) this.tallies[0].reported = event.usage;
          break;
        case 'choice-end':
          this.finish = event.finish.reason;
          this.finished++;
          this.delivered = true;
          break;
        case 'result':
          this.delivered = true;
          break;
        case 'reply-end':
          this.complete = true;
          for (const usageCounter of this.tallies) usageCounter.ended = true;
          break;
        default:
      }
    }
  }

  /** Something has been reported, whatever has been delivered. */
  get hasReport(): boolean {
    return this.tallies.some((usageCounter) => usageCounter.reported !== undefined);
  }

  /** What has been consumed so far, texts by their length where nothing was reported. */
  soFar(): Usage {
    return this.sum(this.tallies.map((usageCounter) => usageCounter.usage(this.inputOfEach)));
  }

  /** Reported, if the provider said it at the end; the last partial report, never below what was delivered; else counted. */
  final(count: CountTexts): Usage | Promise<Usage> {
    const [only] = this.tallies;
    if (this.tallies.length === 1 && only.isKnown) return only.usage(0, 0);
    const unknown = this.tallies.filter((usageCounter) => !usageCounter.isKnown);
    if (unknown.length === 0) return this.soFar();
    return this.counted(unknown, count);
  }

  /** What was delivered, by our count alone, whatever was reported. */
  async delivery(count: CountTexts): Promise<Usage> {
    const tokens = await count(this.tallies.map((usageCounter) => usageCounter.text()));
    return this.sum(
      this.tallies.map((usageCounter, index) => usageCounter.counted(this.inputOfEach, tokens[index] ?? 0)),
    );
  }

  private async counted(unknown: readonly UsageCounter[], count: CountTexts): Promise<Usage> {
    const tokens = await count(unknown.map((usageCounter) => usageCounter.text()));
    const usages = this.tallies.map((usageCounter) => {
      const index = unknown.indexOf(usageCounter);
      return usageCounter.usage(this.inputOfEach, index < 0 ? 0 : tokens[index]);
    });
    return this.sum(usages);
  }

  /** A call that has neither reported nor delivered anything costs nothing, where others have. */
  private sum(usages: readonly Usage[]): Usage {
    const [only] = usages;
    if (only && usages.length === 1) return only;
    const known = usages.filter((_, i) => this.tallies[i]?.reported || this.tallies[i]?.delivered);
    return known.length > 0 ? known.reduce(addUsage) : { input: this.inputOfEach, output: 0, source: 'counted' };
  }

  private seeOpening(choice: number, part: number, opens: PartOpening): void {
    if (opens.type === 'text') this.tallyOf(choice).speaks = true;
    if (opens.type === 'tool-call') this.tallyOf(choice).addText(opens.name);
    if (opens.type === 'reasoning') this.thinks = true;
    if (opens.type === 'vendor' && isToolRun(opens.item)) this.tallyOf(choice).addToolCall();
    if (opens.type !== 'audio' && opens.type !== 'image') return;
    this.media ??= new Map();
    this.media.set(`${choice}.${part}`, opens.type);
    if (opens.type === 'image') this.tallyOf(choice).addImage();
  }

  private seeDelta(choice: number, part: number, delta: string): void {
    const media = this.media?.get(`${choice}.${part}`);
    if (media === undefined) this.tallyOf(choice).addText(delta);
    else if (media === 'audio') this.tallyOf(choice).addAudio(delta);
  }

  private tallyOf(choice: number): UsageCounter {
    if (this.tallies.length === 1) return this.tallies[0];
    return this.tallies[Math.floor(choice / this.width) % this.tallies.length] ?? this.tallies[0];
  }
}
