/** What one upstream call has reported and delivered so far. */
import type { Usage } from '../canonical/usage.ts';

/** Small texts are joined at so many: a string for each would take more than its characters. */
const JOINED_AT = 64;
/** Of base64, packed or not; only used where the provider reported nothing. */
const AUDIO_CHARACTERS_PER_TOKEN = 1000;

export class UsageCounter {
  private told: Usage | undefined;
  /** It has come to its proper end. */
  ended = false;
  /** Something has come that a client can use. */
  delivered = false;
  /** There is text in the reply, beside what it calls and thinks. */
  speaks = false;
  private joined = '';
  private readonly small: string[] = [];
  private bytes = 0;
  private audioCharacters = 0;
  private images = 0;
  private toolCalls = 0;

  /**
   * What the provider has said; nothing, where it says that text came of no tokens at all: nobody gives that away. Tool calls
   * alone may be of none: Anthropic's are, where code that runs on its side makes them.
   */
  get reported(): Usage | undefined {
    return this.speaks && this.bytes > 0 && this.told && saysNothing(this.told) ? undefined : this.told;
  }

  set reported(usage: Usage) {
    this.told = usage;
  }

  /** It has come to its end, and its last report was about all of it. */
  get isKnown(): boolean {
    return this.ended && this.reported !== undefined && this.reported.source !== 'partial';
  }

  addText(text: string): void {
    this.delivered = true;
    this.bytes += text.length;
    this.small.push(text);
    if (this.small.length < JOINED_AT) return;
    this.joined += this.small.join('');
    this.small.length = 0;
  }

  addAudio(base64: string): void {
    this.delivered = true;
    this.audioCharacters += base64.length;
  }

  addImage(): void {
    this.delivered = true;
    this.images++;
  }

  /** The provider has run a tool on its side. */
  addToolCall(): void {
    this.toolCalls++;
  }

  text(): string {
    return this.joined + this.small.join('');
  }

  /** With the images that came: few formats count them in their usage. The tokens of what was delivered, `textTokens` of them text; those of the text are estimated unless given. */
  usage(input: number, textTokens = Math.ceil(this.bytes / 4)): Usage {
    return this.withSeen(this.consumed(input, textTokens));
  }

  /** The same, whatever was reported. */
  counted(input: number, textTokens: number): Usage {
    const audio = Math.ceil(this.audioCharacters / AUDIO_CHARACTERS_PER_TOKEN);
    const usage: Usage = { input, output: textTokens + audio, source: 'counted' };
    if (audio > 0) usage.audioOutput = audio;
    return this.withSeen(usage);
  }

  /** With what few formats count in their usage. */
  private withSeen(used: Usage): Usage {
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

function saysNothing({ input, output, images = 0, seconds = 0, characters = 0 }: Usage): boolean {
  return input + output + images + seconds + characters === 0;
}
