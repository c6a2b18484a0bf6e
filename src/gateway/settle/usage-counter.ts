/** Counts what one upstream call has reported and delivered so far. */
import type { Usage } from '../../canonical/usage.ts';

/** Small texts are joined in groups: a string for each takes more memory than its characters, and a list of them another object per chunk. */
const JOINED_AT = 64;
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
  private joined = '';
  /** The last small texts, and how many. */
  private small = '';
  private smalls = 0;
  private bytes = 0;
  private audioCharacters = 0;
  private images = 0;
  private toolCalls = 0;

  /**
   * The provider's report. A report of zero for a reply with text counts as none. For tool calls alone zero is possible:
   * Anthropic reports it where code that runs on its side makes the calls.
   */
  get reported(): Usage | undefined {
    if (this.fixed) return this.fixed;
    return this.speaks && this.bytes > 0 && this.report && isZero(this.report) ? undefined : this.report;
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
    this.bytes += text.length;
    this.small += text;
    if (++this.smalls < JOINED_AT) return;
    // The engine keeps the texts of a concatenation apart until one of its characters is needed.
    if (this.small.charCodeAt(0) >= 0) this.joined += this.small;
    this.small = '';
    this.smalls = 0;
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
    return this.joined + this.small;
  }

  /** The usage, with `input` tokens where the provider reported none. The tokens of the text are estimated unless given. */
  usage(input: number, textTokens = Math.ceil(this.bytes / 4)): Usage {
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
