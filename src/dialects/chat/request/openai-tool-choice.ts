/** `tool_choice` in OpenAI's formats, which differ in how a tool and a choice among several are named. */
import type { Tool, ToolChoice } from '../../../canonical/call.ts';
import type { Json, JsonObject } from '../../../canonical/json.ts';

export interface ChoiceForm {
  dialect: string;
  /** A tool by its name. */
  named(name: string, isCustom: boolean): JsonObject;
  /** A choice among these tools. */
  allowed(mode: string, tools: JsonObject[]): JsonObject;
}

export function writeOpenaiToolChoice(
  choice: ToolChoice,
  tools: readonly Tool[],
  { dialect, named, allowed }: ChoiceForm,
  losses: Set<string>,
): Json | undefined {
  const toolNamed = (name: string) =>
    named(
      name,
      tools.some((tool) => tool.type === 'custom' && tool.name === name),
    );
  switch (choice.type) {
    case 'auto':
    case 'none':
    case 'required':
      return choice.type;
    case 'tool':
      return toolNamed(choice.name);
    case 'allowed':
      return allowed(choice.mode, choice.names.map(toolNamed));
    case 'native':
      if (choice.dialect === dialect) return choice.item;
      losses.add('`tool_choice` was dropped: it names a tool that runs at another provider.');
      return undefined;
    default:
      return choice satisfies never;
  }
}
