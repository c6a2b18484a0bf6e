/** Writes tools and tool choice, in the flat form of this format. */

import type { ChatCall, Tool } from '../../../canonical/call.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import { OPENAI_RESPONSES } from '../names.ts';
import { type ChoiceForm, writeOpenaiToolChoice } from '../request/openai-tool-choice.ts';
import { reportProviderTool } from '../request/tools.ts';
import { legalToolName } from './tool-names.ts';

export function writeTools(call: ChatCall, losses: Set<string>): { [member: string]: Json | undefined } {
  const isOwn = call.origin.dialect === OPENAI_RESPONSES;
  const tools = call.tools.flatMap((tool) => writeTool(tool, isOwn, losses) ?? []);
  if (tools.length === 0) return {};
  return {
    tools,
    tool_choice: call.toolChoice && writeOpenaiToolChoice(call.toolChoice, call.tools, CHOICE_FORM, losses),
    parallel_tool_calls: call.parallelToolCalls,
  };
}

function writeTool(tool: Tool, isOwn: boolean, losses: Set<string>): JsonObject | undefined {
  switch (tool.type) {
    case 'function': {
      const { description, parameters, strict } = tool;
      return {
        type: 'function',
        name: legalToolName(tool.name),
        ...(description !== undefined && { description }),
        parameters: parameters ?? (isOwn ? null : { type: 'object', properties: {} }),
        // The default is strict, for which most schemas are not written.
        strict: strict ?? false,
      };
    }
    case 'custom': {
      const { description, format } = tool;
      return {
        type: 'custom',
        name: legalToolName(tool.name),
        ...(description !== undefined && { description }),
        ...(format && { format }),
      };
    }
    case 'web-search':
      return {
        type: 'web_search',
        ...(tool.dialect === OPENAI_RESPONSES ? tool.options : searchOptions(tool, losses)),
      };
    case 'native':
      if (tool.dialect === OPENAI_RESPONSES) return tool.item;
      return reportProviderTool(tool, losses);
    default:
      return tool satisfies never;
  }
}

/** Search settings that other formats have too, converted to this format. */
function searchOptions({ options }: Extract<Tool, { type: 'web-search' }>, losses: Set<string>): JsonObject {
  const { search_context_size: size, user_location: location, allowed_domains: allowed, ...others } = options;
  const place = isObject(location) && isObject(location.approximate) ? location.approximate : location;
  for (const [name, value] of Object.entries(others)) {
    if (value === null || name === 'type' || name === 'name') continue;
    losses.add(`\`${name}\` of the web search was dropped: this format has no such member.`);
  }
  return {
    ...(typeof size === 'string' && { search_context_size: size }),
    ...(isObject(place) && { user_location: { type: 'approximate', ...place } }),
    ...(Array.isArray(allowed) && { filters: { allowed_domains: allowed } }),
  };
}

const CHOICE_FORM: ChoiceForm = {
  dialect: OPENAI_RESPONSES,
  named: (name, isCustom) => ({ type: isCustom ? 'custom' : 'function', name: legalToolName(name) }),
  allowed: (mode, tools) => ({ type: 'allowed_tools', mode, tools }),
};
