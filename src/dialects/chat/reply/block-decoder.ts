/** What the decoders of Anthropic messages and Bedrock Converse share: a reply arrives in numbered blocks, one part each. */
import type { ChatCall } from '../../../canonical/call.ts';
import { grown } from '../../../canonical/grown-text.ts';
import type { Finish, PartOpening, ReplyEvent } from '../../../canonical/reply.ts';
import { unwrapFreeText } from '../request/free-text.ts';
import { type ClientTool, clientTools } from '../request/legal-names.ts';
import { answerToolName, isAnswerWrapped, unwrapAnswer } from '../request/structured-output.ts';

/** How the deltas of a tool's input are read: as they arrive, or collected until the block ends. */
export type InputReads = 'input' | 'free-text' | 'answer' | 'wrapped-answer';

/** A block that has begun. `Reads`: what else a block of the format may be. */
export interface OpenBlock<Reads extends string> {
  reads: Reads | InputReads;
  /** -1 until the part opens. */
  part: number;
  gathered: string;
}

export abstract class BlockDecoder<Reads extends string, Block extends OpenBlock<Reads>> {
  readonly #answerTool: string | undefined;
  readonly #isAnswerWrapped: boolean;
  readonly #tools: ReadonlyMap<string, ClientTool>;
  protected readonly blocks = new Map<number, Block>();
  /** The events of the piece that is being read. */
  protected events: ReplyEvent[] = [];
  #parts = 0;
  #sawCall = false;
  #sawAnswer = false;
  /** The reply has ended, complete or not. */
  ended = false;

  constructor(call: ChatCall, legalToolName: (name: string) => string) {
    const { output, tools } = call;
    this.#answerTool = output?.type === 'json-schema' ? answerToolName(call, legalToolName) : undefined;
    this.#isAnswerWrapped = output?.type === 'json-schema' && isAnswerWrapped(output);
    this.#tools = clientTools(tools, legalToolName);
  }

  /** The collected input of a tool call that is read when it is complete. */
  protected abstract inputOf(block: Block): string;
  /** Adds what a block means that is not a tool call, when it ends. */
  protected abstract complete(block: Block, reads: Reads): void;

  protected openPart(block: Block, opens: PartOpening): void {
    block.part = this.#parts++;
    this.events.push({ type: 'part-start', choice: 0, part: block.part, opens });
  }

  protected openCall(block: Block, id: string, name: string): void {
    if (name === this.#answerTool) {
      this.#sawAnswer = true;
      block.reads = this.#isAnswerWrapped ? 'wrapped-answer' : 'answer';
      this.openPart(block, { type: 'text' });
      return;
    }
    this.#sawCall = true;
    const tool = this.#tools.get(name);
    const isFreeText = tool?.isCustom === true;
    block.reads = isFreeText ? 'free-text' : 'input';
    const opens = { type: 'tool-call' as const, id, name: tool?.name ?? name };
    this.openPart(block, isFreeText ? { ...opens, custom: true } : opens);
  }

  protected text(block: Block, text: string): void {
    if (text === '' || block.part < 0) return;
    block.gathered = grown(block.gathered, text);
    this.events.push({ type: 'part-delta', choice: 0, part: block.part, delta: text });
  }

  protected input(block: Block, json: string): void {
    if (block.reads === 'input' || block.reads === 'answer') this.text(block, json);
    else block.gathered = grown(block.gathered, json);
  }

  protected close(index: number): void {
    const block = this.blocks.get(index);
    if (!block) return;
    this.blocks.delete(index);
    const reads: Reads | InputReads = block.reads;
    switch (reads) {
      case 'input':
      case 'answer':
        if (block.gathered === '') this.text(block, this.inputOf(block));
        break;
      case 'free-text':
        this.text(block, unwrapFreeText(this.inputOf(block)));
        break;
      case 'wrapped-answer':
        this.text(block, unwrapAnswer(this.inputOf(block)));
        break;
      default:
        this.complete(block, reads as Reads);
    }
    if (block.part >= 0) this.events.push({ type: 'part-end', choice: 0, part: block.part });
  }

  protected closeAll(): void {
    if (this.blocks.size > 0) for (const index of this.blocks.keys()) this.close(index);
  }

  /** The finish reason for the client. A structured output that was requested as a tool call is not a tool call for it. */
  protected finishFor(finish: Finish): Finish {
    if (!this.#sawAnswer || this.#sawCall || finish.reason !== 'tool-calls') return finish;
    return { ...finish, reason: 'stop' };
  }
}
