/** The delivered part of a reply, and how the events of another target continue it. Pure. */
import type { ReplyEvent } from '../../canonical/reply.ts';

type PlacedEvent = Extract<ReplyEvent, { part: number }>;

/** How much of `tail` is at the start of `text`: at most the length of `tail`. */
function overlap(tail: string, text: string): number {
  let length = 0;
  while (length < tail.length && length < text.length && tail[length] === text[length]) length++;
  return length;
}

export class JoinedReply {
  /** All text that was delivered. */
  text = '';
  /** A reply that ends here, or has more than text, is not continued. */
  private isPlain = true;
  private parts = 0;
  /** The text part that is open; -1: none. */
  private open = -1;
  /** Parts of the present target by its own numbers; -1: left out. */
  private places: Map<number, number> | undefined;
  /** The text that the target repeats before it continues, and how much of it has arrived. */
  private echo = '';
  private held: PlacedEvent | undefined;
  private heldText = '';
  /** White space that was delivered and not sent. The target may begin with it. */
  private tail = '';

  /** Whether another target may continue. */
  get canContinue(): boolean {
    return this.isPlain;
  }

  /** What another target is sent as the beginning of its reply. Providers refuse one that ends in white space. */
  get prefix(): string {
    return this.text.trimEnd();
  }

  /** Another target continues from here. `echoes`: it repeats the prefix first. */
  goOn(echoes: boolean): void {
    this.places = new Map();
    this.echo = echoes ? this.prefix : '';
    this.tail = this.text.slice(this.prefix.length);
    this.held = undefined;
    this.heldText = '';
  }

  /** Events of the present target, as the client gets them. */
  take(events: readonly ReplyEvent[]): readonly ReplyEvent[] {
    const given = this.places ? events.flatMap((event) => this.placed(event)) : events;
    for (const event of given) this.see(event);
    return given;
  }

  private see(event: ReplyEvent): void {
    switch (event.type) {
      case 'part-start':
        this.parts = Math.max(this.parts, event.part + 1);
        if (event.opens.type === 'text') this.open = event.part;
        else if (event.opens.type !== 'reasoning') this.isPlain = false;
        return;
      case 'part-delta':
        if (event.part === this.open) this.text += event.delta;
        return;
      case 'part-end':
        if (event.part === this.open) this.open = -1;
        return;
      case 'part-signature':
      case 'part-transcript':
      case 'part-citation':
      case 'choice-end':
      case 'reply-end':
      case 'result':
        this.isPlain = false;
        return;
      default:
    }
  }

  private placed(event: ReplyEvent): readonly ReplyEvent[] {
    switch (event.type) {
      case 'reply-start':
        return [];
      case 'part-start': {
        const { opens } = event;
        // A second chain of thought in the middle of a text would mean nothing.
        const isLeftOut = opens.type === 'reasoning';
        const isSame = opens.type === 'text' && this.open >= 0;
        const part = isLeftOut ? -1 : isSame ? this.open : this.parts;
        this.places?.set(event.part, part);
        return isLeftOut || isSame ? [] : [{ ...event, part }];
      }
      case 'part-delta': {
        const part = this.placeOf(event);
        if (part < 0) return [];
        const moved = { ...event, part };
        if (part !== this.open) return [moved];
        const delta = this.fresh(moved, event.delta);
        return delta === '' ? [] : [{ ...moved, delta }];
      }
      case 'part-transcript':
      case 'part-signature':
      case 'part-citation':
      case 'part-logprobs':
      case 'part-end': {
        const part = this.placeOf(event);
        return part < 0 ? [] : [...this.released(), { ...event, part }];
      }
      case 'choice-end':
      case 'reply-end':
        return [...this.released(), event];
      default:
        return [event];
    }
  }

  private placeOf({ part }: PlacedEvent): number {
    return this.places?.get(part) ?? this.open;
  }

  /** The part of a text that was not delivered yet. */
  private fresh(event: PlacedEvent, delta: string): string {
    let text = delta;
    if (this.echo !== '') {
      text = this.heldText + delta;
      if (text.length < this.echo.length && this.echo.startsWith(text)) {
        this.held = event;
        this.heldText = text;
        return '';
      }
      if (text.startsWith(this.echo)) text = text.slice(this.echo.length);
      this.echo = this.heldText = '';
      this.held = undefined;
    }
    if (this.tail === '' || text === '') return text;
    const known = overlap(this.tail, text);
    this.tail = known === text.length ? this.tail.slice(known) : '';
    return text.slice(known);
  }

  /** A text that only started like the prefix. */
  private released(): readonly ReplyEvent[] {
    const { held, heldText } = this;
    this.echo = this.heldText = '';
    this.held = undefined;
    return held?.type === 'part-delta' ? [{ ...held, delta: heldText }] : [];
  }
}
