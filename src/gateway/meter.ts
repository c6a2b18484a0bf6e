/** Watches the frames of a reply go by and knows at any moment what has been consumed. */
import type { FinishReason, ReplyEvent } from '../canonical/reply.ts';
import type { Usage } from '../canonical/usage.ts';

/** Bytes of text a token has on average: only used where the vendor reported nothing. */
const BYTES_PER_TOKEN = 4;

export class Meter {
  /** The reply has come to its proper end. */
  complete = false;
  /** Something a client can use has been delivered. */
  delivered = false;
  finish: FinishReason | undefined;
  private reported: Usage | undefined;
  private outputBytes = 0;
  /** Pictures that came: few formats count them in their usage. */
  private images = 0;
  /** Parts that hold no text: their length says nothing of tokens. */
  private unread: Set<string> | undefined;
  private readonly estimatedInput: number;

  /** `estimatedInput`: tokens, used where the vendor reported nothing. */
  constructor(estimatedInput: number) {
    this.estimatedInput = estimatedInput;
  }

  see(events: readonly ReplyEvent[]): void {
    for (const event of events) {
      switch (event.type) {
        case 'part-delta':
        case 'part-transcript':
          if (!this.unread?.has(placeOf(event))) this.outputBytes += Buffer.byteLength(event.delta);
          this.delivered = true;
          break;
        case 'part-start':
          if (event.opens.type === 'tool-call') this.outputBytes += event.opens.name.length;
          else if (event.opens.type === 'image' || event.opens.type === 'audio') this.open(event, event.opens.type);
          break;
        case 'usage':
          this.reported = event.usage;
          break;
        case 'choice-end':
          this.finish = event.finish.reason;
          this.delivered = true;
          break;
        case 'result':
          this.delivered = true;
          break;
        case 'reply-end':
          this.complete = true;
          break;
        default:
      }
    }
  }

  /** Reported, if the vendor said it at the end; the last partial report, never below what was seen; else counted. */
  usage(): Usage {
    const used = this.consumed();
    return this.images === 0 || used.images !== undefined ? used : { ...used, images: this.images };
  }

  private consumed(): Usage {
    const counted = Math.ceil(this.outputBytes / BYTES_PER_TOKEN);
    if (!this.reported) return { input: this.estimatedInput, output: counted, source: 'counted' };
    if (this.complete) return this.reported;
    return { ...this.reported, output: Math.max(this.reported.output, counted), source: 'partial' };
  }

  private open(place: Place, type: 'image' | 'audio'): void {
    if (type === 'image') this.images++;
    this.unread ??= new Set();
    this.unread.add(placeOf(place));
  }
}

interface Place {
  choice: number;
  part: number;
}

const placeOf = ({ choice, part }: Place): string => `${choice} ${part}`;
