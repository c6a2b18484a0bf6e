/** Tool namespaces, which only this format has. For other formats, namespace and tool name form one name. */
import type { ChatCall, ToolGroup } from '../../../canonical/call.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';

const BETWEEN = '__';

export interface PlacedTool {
  /** The tool's path in the request. */
  path: string;
  tool: Json;
  group?: ToolGroup;
}

/** The name for formats without namespaces. */
export function nameWithGroup(group: string | undefined, name: string): string {
  return group === undefined ? name : group + BETWEEN + name;
}

/** Splits such a name into namespace and name. */
export function nameAndGroup(group: string | undefined, name: string): { name: string; namespace?: string } {
  return group === undefined ? { name } : { name: name.slice(group.length + BETWEEN.length), namespace: group };
}

export function groupOf({ tools }: ChatCall, name: string): string | undefined {
  const tool = tools.find((each) => 'group' in each && each.name === name);
  return tool && 'group' in tool ? tool.group?.name : undefined;
}

/** All tools of the request, without namespaces, including those that input items add. */
export function ungroupedTools({ tools, input }: JsonObject): PlacedTool[] {
  const found = ungrouped(tools, 'tools');
  if (!Array.isArray(input)) return found;
  for (const [index, item] of input.entries()) {
    if (isObject(item) && item.type === 'additional_tools') {
      found.push(...ungrouped(item.tools, `input[${index}].tools`));
    }
  }
  return found;
}

function ungrouped(tools: Json | undefined, at: string): PlacedTool[] {
  return (Array.isArray(tools) ? tools : []).flatMap((tool, index): PlacedTool[] => {
    const path = `${at}[${index}]`;
    if (!isObject(tool) || tool.type !== 'namespace' || typeof tool.name !== 'string') return [{ path, tool }];
    const { name, description } = tool;
    const group = { name, ...(typeof description === 'string' && { description }) };
    return ungrouped(tool.tools, `${path}.tools`).map((inner) => ({ ...inner, group }));
  });
}
