/** What the writers of several formats share for the tools of a request and its earlier tool calls. */
import type { ChatCall, Tool } from '../../../canonical/call.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import { parsedJson } from '../../shared/json-values.ts';
import { canBeStrict } from './strict-schema.ts';

/** The tools that the model may choose from: a subset if the tool choice names one. */
export function allowedTools({ tools, toolChoice }: ChatCall, losses: Set<string>): readonly Tool[] {
  if (toolChoice?.type !== 'allowed') return tools;
  losses.add('Only the allowed tools were sent.');
  return tools.filter((tool) => !('name' in tool) || toolChoice.names.includes(tool.name));
}

/** Whether a function is sent as strict. A requested strictness that is not possible is reported. */
export function isStrictTool(
  { strict, parameters }: Extract<Tool, { type: 'function' }>,
  isSupported: boolean,
  losses: Set<string>,
): boolean {
  const isStrict = strict === true && isSupported && canBeStrict(parameters);
  if (strict && !isStrict) losses.add('`strict` of a tool was dropped: the model cannot enforce its schema.');
  return isStrict;
}

export function reportFreeTextTool(losses: Set<string>): void {
  losses.add('A tool with free-text input was sent as a function: the model has no such tools.');
}

/** Reports a tool, or a choice of tools, that only another format has. */
export function reportForeign(
  what: 'tool' | 'choice of tools',
  { dialect }: { dialect: string },
  losses: Set<string>,
): undefined {
  losses.add(`A ${what} that only ${dialect} knows was dropped.`);
}

/** Reports a tool that runs at another provider, in the words of OpenAI's formats. */
export function reportProviderTool({ item }: Extract<Tool, { type: 'native' }>, losses: Set<string>): undefined {
  losses.add(`The tool \`${String(item.type ?? item.name)}\` was dropped: it runs at another provider.`);
}

/** The arguments of an earlier tool call as an object. Anything else is wrapped in one member. */
export function inputObject(input: string, losses: Set<string>): JsonObject {
  if (input.trim() === '') return {};
  const value: Json | undefined = parsedJson(input);
  if (isObject(value)) return value;
  losses.add('The arguments of an earlier tool call were not a JSON object: they were sent in a member `input`.');
  return { input: value ?? input };
}
