/** Finds what the client's format cannot express in a reply, and reports it as warnings. */
import type { Citation } from '../../../canonical/call.ts';
import type { FinishReason, PartOpening, ReplyEvent } from '../../../canonical/reply.ts';

type PartType = PartOpening['type'];

const NONE: readonly string[] = [];

/** What a format can express in a reply. */
export interface ReplySupport {
  readonly dialect: string;
  /**
   * Part types that the format cannot express unchanged. The value completes the warning: it says what became of the
   * part.
   */
  readonly without: { readonly [type in PartType]?: string };
  /** Part types that may have log probabilities. */
  readonly logprobs: readonly PartType[];
  /** Whether the format can express this citation. */
  shows(citation: Citation): boolean;
  /** The members of `extras` that the format has. */
  readonly extras: readonly string[];
  readonly severalChoices: boolean;
  /** Whether it reports which stop sequence was met. */
  readonly stopSequence: boolean;
  /** Whether it keeps one signature for all texts together. */
  readonly oneTextSignature: boolean;
  /** Finish reasons that can have an explanation. */
  readonly explains: readonly FinishReason[];
}

/** Inspects the events that a writer translates. */
export class ReplyLosses {
  readonly #support: ReplySupport;
  #warnings: Set<string> | undefined;
  /** Part types, by choice and part. */
  readonly #types: PartType[][] = [];
  #signedText: number | undefined;

  constructor(support: ReplySupport) {
    this.#support = support;
  }

  /** One sentence each, in the order in which they were found. */
  get warnings(): readonly string[] {
    return this.#warnings ? [...this.#warnings] : NONE;
  }

  see(events: readonly ReplyEvent[]): void {
    for (const event of events) if (event.type !== 'part-delta') this.#event(event);
  }

  #event(event: ReplyEvent): void {
    const support = this.#support;
    switch (event.type) {
      case 'reply-start':
        for (const name in event.extras) if (!support.extras.includes(name)) this.#leftOut(`\`${name}\``);
        return;
      case 'part-start':
        this.#part(event.choice, event.part, event.opens);
        return;
      case 'part-citation':
        if (!support.shows(event.citation)) this.#leftOut('A citation');
        return;
      case 'part-logprobs':
        if (!support.logprobs.includes(this.#typeOf(event.choice, event.part))) this.#leftOut('`logprobs`');
        return;
      case 'part-signature':
        this.#checkSignature(event.choice, event.part);
        return;
      case 'choice-end':
        if (event.choice > 0 && !support.severalChoices) this.#leftOut('Every choice but the first');
        if (event.finish.stopSequence !== undefined && !support.stopSequence)
          this.#leftOut('The stop sequence that was met');
        if (event.finish.explanation !== undefined && !support.explains.includes(event.finish.reason))
          this.#leftOut('Why the reply ended');
        return;
      case 'aside':
        for (const name in event.members) this.#leftOut(`\`${name}\` of ${event.dialect}`);
        return;
      default:
    }
  }

  #part(choice: number, part: number, opens: PartOpening): void {
    if (choice > 0 && !this.#support.severalChoices) {
      this.#leftOut('Every choice but the first');
      return;
    }
    let types = this.#types[choice];
    if (!types) {
      types = [];
      this.#types[choice] = types;
    }
    types[part] = opens.type;
    if (opens.type === 'native') {
      if (opens.dialect !== this.#support.dialect) this.#leftOut(`${nameOf(opens)} of ${opens.dialect}`);
      return;
    }
    const instead = this.#support.without[opens.type];
    if (instead !== undefined) this.#warn(`The reply's ${opens.type} ${instead}.`);
  }

  #checkSignature(choice: number, part: number): void {
    if (!this.#support.oneTextSignature || this.#typeOf(choice, part) !== 'text') return;
    if (this.#signedText !== undefined && this.#signedText !== part)
      this.#leftOut('The reasoning signature of a text before the last');
    this.#signedText = part;
  }

  #typeOf(choice: number, part: number): PartType {
    return this.#types[choice]?.[part] ?? 'text';
  }

  #leftOut(what: string): void {
    this.#warn(`${what} was dropped from the reply: the client’s format cannot express it.`);
  }

  #warn(sentence: string): void {
    this.#warnings ??= new Set();
    this.#warnings.add(sentence);
  }
}

function nameOf({ item }: Extract<PartOpening, { type: 'native' }>): string {
  const name = typeof item.type === 'string' ? item.type : Object.keys(item)[0];
  return name === undefined ? 'A block' : `\`${name}\``;
}

/** The warnings as a comment in the stream, which client libraries skip. Empty without warnings. */
export function warningComment(warnings: readonly string[]): string {
  return warnings.length > 0 ? `: modelport-warnings: ${warnings.join(' ').replace(/[^\x20-\x7e]/g, '?')}\n\n` : '';
}

/** A comment that keeps a connection open. */
export const COMMENT = new TextEncoder().encode(': ka\n\n');
