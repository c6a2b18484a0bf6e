/** Tools, and how they are to be chosen. */
import type { Tool, ToolChoice } from '../../../canonical/call.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import { wrong } from '../../shared/request-body.ts';
import { GEMINI } from './name.ts';
import { fromOpenapi } from './schema.ts';

/** A tool object may hold several tools, each under its own member. */
export function readTools(tools: Json | undefined): Tool[] {
  const read: Tool[] = [];
  for (const tool of Array.isArray(tools) ? tools : []) {
    if (!isObject(tool)) continue;
    for (const [member, value] of Object.entries(tool)) {
      if (member === 'functionDeclarations') {
        for (const declaration of Array.isArray(value) ? value : [])
          if (isObject(declaration)) read.push(readFunction(declaration));
      } else if (member === 'googleSearch' && isObject(value)) {
        read.push({ type: 'web-search', dialect: GEMINI, options: value });
      } else read.push({ type: 'vendor', dialect: GEMINI, item: { [member]: value } });
    }
  }
  return read;
}

function readFunction({ name, description, parameters, parametersJsonSchema }: JsonObject): Tool {
  const schema = isObject(parametersJsonSchema)
    ? parametersJsonSchema
    : isObject(parameters)
      ? fromOpenapi(parameters)
      : undefined;
  return {
    type: 'function',
    name: String(name),
    ...(typeof description === 'string' && { description }),
    ...(schema && { parameters: schema }),
  };
}

export function readToolChoice(
  toolConfig: JsonObject,
  tools: readonly Tool[],
): { choice?: ToolChoice; rest: JsonObject } {
  const { functionCallingConfig, ...rest } = toolConfig;
  if (!isObject(functionCallingConfig)) return { rest };
  const { mode, allowedFunctionNames, ...others } = functionCallingConfig;
  const beside = Object.keys(others).length > 0 ? { ...rest, functionCallingConfig: others } : rest;
  const names = Array.isArray(allowedFunctionNames) ? allowedFunctionNames.map(String) : [];
  const choice = choiceOf(typeof mode === 'string' ? mode.toUpperCase() : 'MODE_UNSPECIFIED', names, tools);
  return choice ? { choice, rest: beside } : { rest: beside };
}

function choiceOf(mode: string, names: string[], tools: readonly Tool[]): ToolChoice | undefined {
  const [only] = names;
  switch (mode) {
    case 'MODE_UNSPECIFIED':
      return undefined;
    case 'AUTO':
      return { type: 'auto' };
    case 'NONE':
      return { type: 'none' };
    case 'ANY':
      if (names.length === 1 && only !== undefined) return { type: 'tool', name: only };
      return names.length > 0 ? { type: 'allowed', mode: 'required', names } : { type: 'required' };
    // As AUTO, and what is called fits its schema.
    case 'VALIDATED':
      return { type: 'allowed', mode: 'auto', names: names.length > 0 ? names : functionNames(tools) };
    default:
      throw wrong('toolConfig.functionCallingConfig.mode', 'must be `AUTO`, `ANY`, `NONE` or `VALIDATED`');
  }
}

function functionNames(tools: readonly Tool[]): string[] {
  return tools.flatMap((tool) => (tool.type === 'function' ? [tool.name] : []));
}
