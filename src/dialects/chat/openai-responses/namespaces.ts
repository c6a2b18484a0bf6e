/** Tools in groups, which this format alone has: everybody else knows each tool by its group's name and its own. */
import type { ChatCall, ToolGroup } from '../../../canonical/call.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';

const BETWEEN = '__';

export interface PlacedTool {
  /** Where it stands in the request. */
  path: string;
  tool: Json;
  group?: ToolGroup;
}

/** The name for those who know no groups. */
export function nameWithGroup(group: string | undefined, name: string): string {
  return group === undefined ? name : group + BETWEEN + name;
}

/** A name as this format has it: its group apart. */
export function nameAndGroup(group: string | undefined, name: string): { name: string; namespace?: string } {
  return group === undefined ? { name } : { name: name.slice(group.length + BETWEEN.length), namespace: group };
}

export function groupOf({ tools }: ChatCall, name: string): string | undefined {
  const tool = tools.find((each) => 'group' in each && each.name === name);
  return tool && 'group' in tool ? tool.group?.name : undefined;
}

/** Every tool by itself: those of the request and those that an item of its input adds. */
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
