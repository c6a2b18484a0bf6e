/** Counts the usage of a reply, event by event: what each upstream call has reported and delivered so far. */
import { grown } from '../../canonical/grown-text.ts';
import type { JsonObject } from '../../canonical/json.ts';
import type { FinishReason, PartOpening, ReplyEvent } from '../../canonical/reply.ts';
import { addUsage, type Usage } from '../../canonical/usage.ts';

/** Counts the tokens of texts. */
export type CountTexts = (texts: readonly string[]) => Promise<number[]>;

/** Reply items that show that the provider ran a tool. Few providers count them in their usage. */
const TOOL_RUN = /^(web_search|file_search|code_interpreter|x_search|collections_search|code_execution)_call$/;

function isToolRun({ type, name }: JsonObject): boolean {
  return type === 'server_tool_use' ? name === 'web_search' : typeof type === 'string' && TOOL_RUN.test(type);
}

type Counters = readonly [UsageCounter, ...UsageCounter[]];

export class Meter {
  /** The reply has ended properly. */
  complete = false;
  /** Something a client can use has been delivered. */
  delivered = false;
  /** The last of an image was delivered in part: that may be nearly complete. */
  showsImage = false;
  /** The reply has reasoning in it, or may have. */
  thinks = false;
  finish: FinishReason | undefined;
  /** How many choices have ended. */
  finished = 0;
  /** One, or one for each upstream call that the call was split into. */
  private counters: Counters = [new UsageCounter()];
  /** The counter, where it is one. */
  private single: UsageCounter | undefined = this.counters[0];
  /** Choices of each. */
  private width = Number.POSITIVE_INFINITY;
  /** Parts whose deltas are not text, by choice and part. */
  private media: Map<string, 'audio' | 'image'> | undefined;
  private inputOfEach: number;
  /** Another upstream call continues where the first one broke off. */
  isContinued = false;
  /** The upstream call that continues the reply was sent: its input is charged whether it answers or not. */
  isAsked = false;

  /** `estimatedInput`: tokens, used where the provider reports nothing. */
  constructor(estimatedInput: number) {
    this.inputOfEach = estimatedInput;
  }

  /** The reply comes from several upstream calls with `width` choices each, which share `prompts` inputs. */
  split(calls: number, width: number, prompts: number): void {
    this.use([new UsageCounter(), ...Array.from({ length: calls - 1 }, () => new UsageCounter())]);
    this.width = width;
    this.inputOfEach = Math.ceil(this.inputOfEach / prompts);
  }

  /** The reply is continued by another upstream call, whose input is estimated. `used`: what all before it used. */
  continueFrom(used: Usage, estimatedInput: number): void {
    const before = new UsageCounter();
    before.fixed = used;
    const after = new UsageCounter();
    // It continues in the open text: no start of a part shows it.
    after.speaks = true;
    this.use([before, after]);
    this.isContinued = true;
    this.isAsked = false;
    this.inputOfEach = estimatedInput;
  }

  private use(counters: Counters): void {
    this.counters = counters;
    this.single = counters.length === 1 ? counters[0] : undefined;
  }

  /** An empty meter for the same call. */
  anew(): Meter {
    const meter = new Meter(this.inputOfEach);
    meter.use([new UsageCounter(), ...this.counters.slice(1).map(() => new UsageCounter())]);
    meter.width = this.width;
    return meter;
  }

  /** One of several upstream calls reports its usage; its last report counts. */
  seeUsageOf(call: number, usage: Usage): void {
    const usageCounter = this.counters[call];
    if (usageCounter) usageCounter.reported = usage;
  }

  /** One of several upstream calls has ended. */
  seeEndOf(call: number): void {
    const usageCounter = this.counters[call];
    if (usageCounter) usageCounter.ended = true;
  }

  /** Every upstream call has reported its usage. */
  get isReported(): boolean {
    return this.counters.every(({ reported }) => reported !== undefined);
  }

  /** One more text of this part: what its `part-delta` says, without the event. */
  seeText(choice: number, part: number, text: string): void {
    this.delivered = true;
    if (this.single && !this.media) this.single.addText(text);
    else this.seeDelta(choice, part, text);
  }

  /** A complete reply of one text, whose provider reports this usage. */
  seePlain(usage: Usage, finish: FinishReason): void {
    this.counters[0].fixed = usage;
    this.finish = finish;
    this.finished = 1;
    this.delivered = true;
    this.complete = true;
  }

  see(events: readonly ReplyEvent[]): void {
    for (const event of events) {
      switch (event.type) {
        case 'part-delta':
          this.seeText(event.choice, event.part, event.delta);
          break;
        case 'part-transcript':
          this.delivered = true;
          this.counterOf(event.choice).addText(event.delta);
          break;
        case 'part-start':
          this.seeOpening(event.choice, event.part, event.opens);
          break;
        case 'part-signature':
          this.thinks = true;
          break;
        case 'aside':
          if (event.isPartialImage) this.showsImage = true;
          break;
        case 'usage':
          // Of several upstream calls each reports its own, through `seeUsageOf`.
          if (this.counters.length === 1) this.counters[0].reported = event.usage;
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
          for (const usageCounter of this.counters) usageCounter.ended = true;
          break;
        default:
      }
    }
  }

  /** Some usage has been reported, even if nothing was delivered. */
  get hasReport(): boolean {
    return this.counters.some((usageCounter) => usageCounter.reported !== undefined);
  }

  /** The usage so far. Texts count by their length where nothing was reported. */
  soFar(): Usage {
    return this.sum(this.counters.map((usageCounter) => usageCounter.usage(this.inputOfEach)));
  }

  /** The final usage: the report at the end; else the last partial report, at least what was delivered; else our count. */
  final(count: CountTexts): Usage | Promise<Usage> {
    const { single } = this;
    if (single?.fixed) return single.fixed;
    if (single?.isKnown) return single.usage(0, 0);
    const unknown = this.counters.filter((usageCounter) => !usageCounter.isKnown);
    if (unknown.length === 0) return this.soFar();
    return this.counted(unknown, count);
  }

  /** What was delivered, by our own count, whatever was reported. */
  async delivery(count: CountTexts): Promise<Usage> {
    const tokens = await count(this.counters.map((usageCounter) => usageCounter.text()));
    return this.sum(
      this.counters.map((usageCounter, index) => usageCounter.counted(this.inputOfEach, tokens[index] ?? 0)),
    );
  }

  private async counted(unknown: readonly UsageCounter[], count: CountTexts): Promise<Usage> {
    const tokens = await count(unknown.map((usageCounter) => usageCounter.text()));
    const usages = this.counters.map((usageCounter) => {
      const index = unknown.indexOf(usageCounter);
      return usageCounter.usage(this.inputOfEach, index < 0 ? 0 : tokens[index]);
    });
    return this.sum(usages);
  }

  /** Upstream calls that neither reported nor delivered anything cost nothing, if others did. */
  private sum(usages: readonly Usage[]): Usage {
    const [only] = usages;
    if (only && usages.length === 1) return only;
    const isLast = (i: number) => this.isAsked && i === usages.length - 1;
    const known = usages.filter((_, i) => this.counters[i]?.reported || this.counters[i]?.delivered || isLast(i));
    return known.length > 0 ? known.reduce(addUsage) : { input: this.inputOfEach, output: 0, source: 'counted' };
  }

  private seeOpening(choice: number, part: number, opens: PartOpening): void {
    if (opens.type === 'text') this.counterOf(choice).speaks = true;
    if (opens.type === 'tool-call') this.counterOf(choice).addText(opens.name);
    if (opens.type === 'reasoning') this.thinks = true;
    if (opens.type === 'native' && isToolRun(opens.item)) this.counterOf(choice).addToolCall();
    if (opens.type !== 'audio' && opens.type !== 'image') return;
    this.media ??= new Map();
    this.media.set(`${choice}.${part}`, opens.type);
    if (opens.type !== 'image') return;
    this.counterOf(choice).addImage();
    this.showsImage = false;
  }

  private seeDelta(choice: number, part: number, delta: string): void {
    const media = this.media?.get(`${choice}.${part}`);
    if (media === undefined) this.counterOf(choice).addText(delta);
    else if (media === 'audio') this.counterOf(choice).addAudio(delta);
  }

  private counterOf(choice: number): UsageCounter {
    if (this.counters.length === 1) return this.counters[0];
    if (this.isContinued) return this.counters[1] ?? this.counters[0];
    return this.counters[Math.floor(choice / this.width) % this.counters.length] ?? this.counters[0];
  }
}

/** An estimate for base64 audio, compressed or not, used only where the provider reported nothing. */
const AUDIO_CHARACTERS_PER_TOKEN = 1000;

export class UsageCounter {
  private report: Usage | undefined;
  /** The call has ended properly. */
  ended = false;
  /** Something that a client can use has arrived. */
  delivered = false;
  /** The reply has text, besides tool calls and reasoning. */
  speaks = false;
  /** What an upstream call that is over has used. */
  fixed: Usage | undefined;
  private output = '';
  private audioCharacters = 0;
  private images = 0;
  private toolCalls = 0;

  /**
   * The provider's report. A report of zero for a reply with text counts as none. For tool calls alone zero is possible:
   * Anthropic reports it where code that runs on its side makes the calls.
   */
  get reported(): Usage | undefined {
    if (this.fixed) return this.fixed;
    return this.speaks && this.output.length > 0 && this.report && isZero(this.report) ? undefined : this.report;
  }

  set reported(usage: Usage) {
    this.report = usage;
  }

  /** The call has ended, and its last report covers all of it. */
  get isKnown(): boolean {
    return (
      this.fixed !== undefined || (this.ended && this.reported !== undefined && this.reported.source !== 'partial')
    );
  }

  addText(text: string): void {
    this.delivered = true;
    this.output = grown(this.output, text);
  }

  addAudio(base64: string): void {
    this.delivered = true;
    this.audioCharacters += base64.length;
  }

  addImage(): void {
    this.delivered = true;
    this.images++;
  }

  /** The provider ran a tool. */
  addToolCall(): void {
    this.toolCalls++;
  }

  text(): string {
    return this.output;
  }

  /** The usage, with `input` tokens where the provider reported none. The tokens of the text are estimated unless given. */
  usage(input: number, textTokens = Math.ceil(this.output.length / 4)): Usage {
    return this.fixed ?? this.withImagesAndTools(this.consumed(input, textTokens));
  }

  /** The same by our own count, whatever was reported. */
  counted(input: number, textTokens: number): Usage {
    if (this.fixed) return this.fixed;
    const audio = Math.ceil(this.audioCharacters / AUDIO_CHARACTERS_PER_TOKEN);
    const usage: Usage = { input, output: textTokens + audio, source: 'counted' };
    if (audio > 0) usage.audioOutput = audio;
    return this.withImagesAndTools(usage);
  }

  /** Adds images and tool calls, which few formats count in their usage. */
  private withImagesAndTools(used: Usage): Usage {
    const { images, toolCalls } = this;
    const hasImages = images > 0 && used.images === undefined;
    const hasCalls = toolCalls > 0 && used.serverToolCalls === undefined;
    if (!hasImages && !hasCalls) return used;
    return { ...used, ...(hasImages && { images }), ...(hasCalls && { serverToolCalls: toolCalls }) };
  }

  private consumed(input: number, textTokens: number): Usage {
    const { reported } = this;
    if (reported && this.isKnown) return reported;
    const counted = this.counted(input, textTokens);
    if (!reported) return counted;
    return { ...reported, output: Math.max(reported.output, counted.output), source: 'partial' };
  }
}

function isZero({ input, output, images = 0, seconds = 0, characters = 0 }: Usage): boolean {
  return input + output + images + seconds + characters === 0;
}
