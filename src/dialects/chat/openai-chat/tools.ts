/** Reads and writes tools and the tool choice. */

import type { ChatCall, Tool, ToolChoice } from '../../../canonical/call.ts';
import { isObject, type Json, type JsonMembers, type JsonObject } from '../../../canonical/json.ts';
import { objectAt } from '../../shared/json-values.ts';
import { wrong } from '../../shared/request-body.ts';
import { OPENAI_CHAT } from '../names.ts';
import { type ChoiceForm, writeOpenaiToolChoice } from '../request/openai-tool-choice.ts';
import { reportProviderTool } from '../request/tools.ts';
import { withMark } from './read-messages.ts';

/** Deprecated functions have no cache marks. */
const NO_MARK: JsonObject = {};

export function readTools(body: JsonObject): Tool[] {
  const tools: Tool[] = [];
  if (Array.isArray(body.tools)) for (const tool of body.tools) tools.push(readTool(tool, `tools[${tools.length}]`));
  if (Array.isArray(body.functions))
    for (const item of body.functions) if (isObject(item)) tools.push(readFunction(item, NO_MARK));
  const search = objectAt(body, 'web_search_options');
  if (search) tools.push({ type: 'web-search', options: search, dialect: OPENAI_CHAT });
  return tools;
}

function readTool(tool: Json, path: string): Tool {
  if (!isObject(tool)) throw wrong(path, 'must be an object');
  // Some clients omit the type.
  const type = tool.type ?? (isObject(tool.function) ? 'function' : undefined);
  if (typeof type !== 'string') throw wrong(`${path}.type`, 'must be a string');
  if (type !== 'function' && type !== 'custom') return { type: 'native', dialect: OPENAI_CHAT, item: tool };
  const item = tool[type];
  if (!isObject(item)) throw wrong(`${path}.${type}`, 'must be an object with a `name`');
  if (typeof item.name !== 'string' || item.name === '')
    throw wrong(`${path}.${type}.name`, 'must be a non-empty string');
  const { parameters, description } = item;
  if (parameters !== undefined && parameters !== null && !isObject(parameters)) {
    throw wrong(`${path}.${type}.parameters`, 'must be a JSON schema, which is an object');
  }
  if (description !== undefined && description !== null && typeof description !== 'string') {
    throw wrong(`${path}.${type}.description`, 'must be a string');
  }
  if (type === 'function') return readFunction(item, tool);
  const { format } = item;
  const flat = isObject(format) && isObject(format.grammar) ? { type: 'grammar', ...format.grammar } : format;
  const custom: Extract<Tool, { type: 'custom' }> = { type: 'custom', name: item.name };
  if (typeof description === 'string') custom.description = description;
  if (isObject(flat)) custom.format = flat;
  return withMark(custom, tool);
}

/** `carrier`: the object that holds the cache mark. */
function readFunction({ name, description, parameters, strict }: JsonObject, carrier: JsonObject): Tool {
  const tool: Extract<Tool, { type: 'function' }> = { type: 'function', name: String(name) };
  if (typeof description === 'string') tool.description = description;
  if (isObject(parameters)) tool.parameters = parameters;
  if (typeof strict === 'boolean') tool.strict = strict;
  return withMark(tool, carrier);
}

export function readToolChoice(body: JsonObject): ToolChoice | undefined {
  const choice = body.tool_choice ?? body.function_call;
  if (choice === undefined || choice === null) return undefined;
  switch (choice) {
    case 'auto':
    case 'none':
    case 'required':
      return { type: choice };
    case 'any':
      return { type: 'required' };
  }
  if (!isObject(choice))
    throw wrong('tool_choice', 'must be `auto`, `none`, `required`, or an object that names a tool');
  const allowed = isObject(choice.allowed_tools) ? choice.allowed_tools : undefined;
  if (allowed) {
    const names = (Array.isArray(allowed.tools) ? allowed.tools : []).flatMap((tool) => nameOf(tool) ?? []);
    return { type: 'allowed', mode: allowed.mode === 'required' ? 'required' : 'auto', names };
  }
  const name = nameOf(choice);
  return name === undefined ? { type: 'native', dialect: OPENAI_CHAT, item: choice } : { type: 'tool', name };
}

/** `{function: {name}}`, `{custom: {name}}`, or the deprecated `{name}`. */
function nameOf(item: Json): string | undefined {
  if (!isObject(item)) return undefined;
  const body = [item.function, item.custom].find(isObject) ?? item;
  return typeof body.name === 'string' ? body.name : undefined;
}

const NO_TOOLS: JsonMembers = {};

export function writeTools(call: ChatCall, extras: JsonObject, warnings: Set<string>): JsonMembers {
  if (call.tools.length === 0) return NO_TOOLS;
  const old = new Set(Array.isArray(extras.functions) ? extras.functions.map((item) => bareName(item)) : []);
  const tools = call.tools.filter((tool) => !(tool.type === 'function' && old.has(tool.name)));
  const written = tools.flatMap((tool) => writeTool(tool, call, warnings) ?? []);
  const search = tools.find((tool) => tool.type === 'web-search');
  const searches = search ? { web_search_options: searchOptions(search, warnings) } : {};
  if (written.length === 0) return searches;
  return {
    ...searches,
    tools: written,
    tool_choice:
      call.toolChoice && extras.function_call === undefined
        ? writeOpenaiToolChoice(call.toolChoice, call.tools, CHOICE_FORM, warnings)
        : undefined,
    parallel_tool_calls: call.parallelToolCalls,
  };
}

/** Web search options in this format: context size and user location. */
function searchOptions({ dialect, options }: Extract<Tool, { type: 'web-search' }>, warnings: Set<string>): JsonObject {
  if (dialect === OPENAI_CHAT) return options;
  const { search_context_size: size, user_location: location, type: _, name: __, ...others } = options;
  for (const [name, value] of Object.entries(others)) {
    if (value !== null) warnings.add(`\`${name}\` of the web search was dropped: this format has no such member.`);
  }
  const { type: ___, ...place } = isObject(location) ? location : {};
  return {
    ...(typeof size === 'string' && { search_context_size: size }),
    ...(isObject(location) && { user_location: { type: 'approximate', approximate: place } }),
  };
}

function bareName(item: Json): Json | undefined {
  return typeof item === 'object' && item !== null && !Array.isArray(item) ? item.name : undefined;
}

function writeTool(tool: Tool, call: ChatCall, warnings: Set<string>): JsonObject | undefined {
  switch (tool.type) {
    case 'function': {
      const { name, description, parameters, strict } = tool;
      const body = {
        name,
        ...(description !== undefined && { description }),
        ...(parameters && { parameters }),
        ...(strict !== undefined && { strict }),
      };
      return { type: 'function', function: body, ...mark(tool, call) };
    }
    case 'custom': {
      const { name, description, format } = tool;
      const { type, ...grammar } = format ?? {};
      const nested = type === 'grammar' ? { type, grammar } : format;
      const body = { name, ...(description !== undefined && { description }), ...(nested && { format: nested }) };
      return { type: 'custom', custom: body, ...mark(tool, call) };
    }
    case 'web-search':
      return undefined;
    case 'native':
      if (tool.dialect === OPENAI_CHAT) return tool.item;
      return reportProviderTool(tool, warnings);
    default:
      return tool satisfies never;
  }
}

function mark({ cache }: Exclude<Tool, { type: 'web-search' | 'native' }>, call: ChatCall): JsonObject {
  return cache && call.origin.dialect === OPENAI_CHAT ? { cache_control: { type: 'ephemeral', ...cache } } : {};
}

const CHOICE_FORM: ChoiceForm = {
  dialect: OPENAI_CHAT,
  named: (name, isCustom) =>
    isCustom ? { type: 'custom', custom: { name } } : { type: 'function', function: { name } },
  allowed: (mode, tools) => ({ type: 'allowed_tools', allowed_tools: { mode, tools } }),
};
