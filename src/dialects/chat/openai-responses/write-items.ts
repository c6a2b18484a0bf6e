/** Writes a conversation as input items. */
import type { Message, Part, ReasoningPart, ToolCallPart, ToolResultPart } from '../../../canonical/call.ts';
import type { Json, JsonObject } from '../../../canonical/json.ts';
import { OPENAI_RESPONSES } from '../names.ts';
import { nameAndGroup } from './namespaces.ts';
import { isOwn, signedMembers } from './signatures.ts';
import { legalCallId, legalToolName } from './tool-names.ts';
import { type ResponsesContent, type ResponsesWriteOptions, writeContent } from './write-parts.ts';

export const NAME_DROPPED = '`name` of messages was dropped: this format has no such member.';

export function writeItems(messages: readonly Message[], script: ResponsesWriteOptions): JsonObject[] {
  return messages.flatMap((message) => new TurnWriter(message, script).items());
}

/** Writes the items of one turn: neighboring content forms one message, everything else is an item of its own. */
class TurnWriter {
  readonly #message: Message;
  readonly #script: ResponsesWriteOptions;
  readonly #items: JsonObject[] = [];
  #content: ResponsesContent[] = [];
  /** Members that the current message must be sent back with. */
  #members = '';

  constructor(message: Message, script: ResponsesWriteOptions) {
    this.#message = message;
    this.#script = script;
  }

  items(): JsonObject[] {
    const { parts, name } = this.#message;
    if (name !== undefined) this.#script.losses.add(NAME_DROPPED);
    for (const part of parts) this.#part(part);
    this.#flush();
    if (parts.length === 0 && this.#script.isOwn) this.#items.push(this.#messageItem([], {}));
    return this.#items;
  }

  #part(part: Part): void {
    switch (part.type) {
      case 'text':
      case 'refusal':
      case 'media': {
        const members = part.type === 'text' ? JSON.stringify(signedMembers(part.signature)) : this.#members || '{}';
        if (members !== this.#members) this.#flush();
        this.#members = members;
        this.#content.push(part);
        return;
      }
      case 'native':
        if (part.dialect !== OPENAI_RESPONSES) {
          this.#script.losses.add(`A block that only ${part.dialect} knows was dropped.`);
        } else if (isContent(part.item)) this.#content.push(part);
        else this.#item(part.item);
        return;
      case 'reasoning':
        this.#item(writeReasoning(part, this.#script));
        return;
      case 'tool-call':
        this.#item(writeCallItem(part));
        return;
      case 'tool-result':
        this.#item(writeResult(part, this.#script));
        return;
      default:
        part satisfies never;
    }
  }

  #item(item: JsonObject | undefined): void {
    if (!item) return;
    this.#flush();
    this.#items.push(item);
  }

  #flush(): void {
    const content = writeContent(this.#content, this.#message.role === 'assistant', this.#script);
    if (this.#content.length > 0 && (this.#script.isOwn || content.length > 0)) {
      const members = this.#members === '' ? {} : (JSON.parse(this.#members) as JsonObject);
      this.#items.push(this.#messageItem(content, members));
    }
    this.#content = [];
    this.#members = '';
  }

  #messageItem(content: Json, members: JsonObject): JsonObject {
    const { role, originRole } = this.#message;
    if (role === 'system') return { role: originRole === 'developer' ? 'developer' : 'system', content };
    // Parts beside tool results are the user's.
    return { role: role === 'tool' ? 'user' : role, content, ...members };
  }
}

/** Whether the item is a content part of a message, which has types of its own. */
function isContent({ type }: JsonObject): boolean {
  return typeof type === 'string' && /^(input|output)_|^computer_screenshot$|^(summary_|reasoning_)?text$/.test(type);
}

/** The provider accepts only reasoning with its own signature. */
function writeReasoning(
  { text, signature, summary }: ReasoningPart,
  script: ResponsesWriteOptions,
): JsonObject | undefined {
  const hasSignature = isOwn(signature) && (signature.value !== '' || script.isOwn);
  if (!hasSignature && !(script.isOwn && !signature)) {
    script.losses.add('Earlier thinking was dropped: the model accepts only thinking that it signed itself.');
    return undefined;
  }
  const isContent = summary !== true && script.isOwn && text !== '';
  return {
    type: 'reasoning',
    ...(signature?.id !== undefined && { id: signature.id }),
    summary: text === '' || isContent ? [] : [{ type: 'summary_text', text }],
    ...(isContent && { content: [{ type: 'reasoning_text', text }] }),
    ...(signature && signature.value !== '' && { encrypted_content: signature.value }),
  };
}

function writeCallItem({ id, name, group, input, custom, signature }: ToolCallPart): JsonObject {
  const named = nameAndGroup(group, name);
  const common = { call_id: legalCallId(id), ...named, name: legalToolName(named.name) };
  if (custom) return { type: 'custom_tool_call', ...common, input, ...signedMembers(signature) };
  return { type: 'function_call', ...common, arguments: input === '' ? '{}' : input, ...signedMembers(signature) };
}

function writeResult(result: ToolResultPart, script: ResponsesWriteOptions): JsonObject {
  const parts = result.parts.flatMap((part) => {
    if (part.type === 'text' || part.type === 'refusal' || part.type === 'media') return part;
    if (part.type === 'native' && part.dialect === OPENAI_RESPONSES) return part;
    script.losses.add('A block in the result of a tool was dropped: this format cannot say it.');
    return [];
  });
  let output = writeContent(parts, false, script);
  if (output.length === 0 && !script.isOwn) output = '';
  if (result.failed) output = markedAsFailed(output);
  const type = result.custom ? 'custom_tool_call_output' : 'function_call_output';
  return { type, call_id: legalCallId(result.callId), output };
}

/** The format has no error flag for tool results, so the text says it. */
function markedAsFailed(output: string | Json[]): string | Json[] {
  if (typeof output !== 'string') return [{ type: 'input_text', text: 'Error:' }, ...output];
  return /error|fail/i.test(output) ? output : `Error: ${output}`;
}
