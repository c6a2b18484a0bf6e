/** Reads and writes tools and the tool choice. */
import type { ChatCall, Tool, ToolChoice } from '../../../canonical/call.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import type { ModelQuirks } from '../../shared/quirks.ts';
import { wrong } from '../../shared/request-body.ts';
import { GEMINI } from '../names.ts';
import { freeTextSchema } from '../request/free-text.ts';
import { reportForeign } from '../request/tools.ts';
import { traitsOf } from './model-traits.ts';
import { fromOpenapi, toOpenapi } from './schema.ts';
import { legalToolName } from './tool-names.ts';

/** A tool object may contain several tools, each in its own member. */
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
      } else read.push({ type: 'native', dialect: GEMINI, item: { [member]: value } });
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
    // Like AUTO, with arguments checked against the schema.
    case 'VALIDATED':
      return { type: 'allowed', mode: 'auto', names: names.length > 0 ? names : functionNames(tools) };
    default:
      throw wrong('toolConfig.functionCallingConfig.mode', 'must be `AUTO`, `ANY`, `NONE` or `VALIDATED`');
  }
}

function functionNames(tools: readonly Tool[]): string[] {
  return tools.flatMap((tool) => (tool.type === 'function' ? [tool.name] : []));
}

export interface GeminiWrittenTools {
  tools?: Json;
  toolConfig?: JsonObject;
}

/** The provider expects all functions in one tool. */
export function writeTools(
  call: ChatCall,
  model: string,
  quirks: ModelQuirks,
  losses: Set<string>,
): GeminiWrittenTools {
  const functions = call.tools.map((tool) => writeFunction(tool, quirks, losses)).filter((one) => one !== undefined);
  const hosted = call.tools.map((tool) => writeHosted(tool, losses)).filter((one) => one !== undefined);
  const isMixed = functions.length > 0 && hosted.length > 0;
  const isModern = traitsOf(model).isModern;
  if (isMixed && !isModern)
    losses.add("The provider's own tools were dropped: the model does not accept them together with functions.");
  const tools: JsonObject[] = isMixed && !isModern ? [] : hosted;
  const place = call.tools.findIndex((tool) => tool.type === 'function' || tool.type === 'custom');
  if (functions.length > 0) tools.splice(place, 0, { functionDeclarations: functions });
  if (call.parallelToolCalls === false) {
    losses.add('`parallel_tool_calls` was dropped: the model may call several tools at once.');
  }
  const choice = call.toolChoice && writeChoice(call.toolChoice, losses);
  const toolConfig: JsonObject = {
    ...(choice && { functionCallingConfig: choice }),
    ...(isMixed && isModern && { includeServerSideToolInvocations: true }),
  };
  return { ...(tools.length > 0 && { tools }), ...(Object.keys(toolConfig).length > 0 && { toolConfig }) };
}

function writeFunction(tool: Tool, quirks: ModelQuirks, losses: Set<string>): JsonObject | undefined {
  if (tool.type !== 'function' && tool.type !== 'custom') return undefined;
  if (tool.cache) losses.add('Cache marks were dropped: the model caches on its own.');
  if (tool.type === 'function' && tool.strict) {
    losses.add(`\`strict\` of the tool \`${tool.name}\` was dropped: the model is not bound to the schema.`);
  }
  if (tool.type === 'custom')
    losses.add(
      `The tool \`${tool.name}\` takes free text: it was sent as a function, because the model has no such tools.`,
    );
  const schema = tool.type === 'custom' ? freeTextSchema(tool) : tool.parameters;
  return {
    name: legalToolName(tool.name),
    ...(tool.description !== undefined && { description: tool.description }),
    ...(schema && writeParameters(schema, quirks, losses)),
  };
}

function writeParameters(schema: JsonObject, quirks: ModelQuirks, losses: Set<string>): JsonObject {
  if (quirks.supportsJsonSchema) return { parametersJsonSchema: schema };
  const parameters = toOpenapi(schema, losses);
  // The provider rejects an object without properties. No parameters mean the same.
  const isBare =
    parameters.type === 'OBJECT' && Object.keys((parameters.properties as JsonObject | undefined) ?? {}).length === 0;
  return isBare ? {} : { parameters };
}

function writeHosted(tool: Tool, losses: Set<string>): JsonObject | undefined {
  switch (tool.type) {
    case 'function':
    case 'custom':
      return undefined;
    case 'web-search':
      if (tool.dialect === GEMINI) return { googleSearch: tool.options };
      if (Object.keys(tool.options).some((option) => option !== 'type' && option !== 'name')) {
        losses.add('The options of the web search were dropped: the model does not support them.');
      }
      return { googleSearch: {} };
    case 'native':
      if (tool.dialect === GEMINI) return tool.item;
      losses.add(`A tool that only ${tool.dialect} knows was dropped.`);
      return undefined;
    default:
      return tool satisfies never;
  }
}

function writeChoice(choice: ToolChoice, losses: Set<string>): JsonObject | undefined {
  switch (choice.type) {
    case 'auto':
      return { mode: 'AUTO' };
    case 'none':
      return { mode: 'NONE' };
    case 'required':
      return { mode: 'ANY' };
    case 'tool':
      return { mode: 'ANY', allowedFunctionNames: [legalToolName(choice.name)] };
    case 'allowed':
      return {
        mode: choice.mode === 'required' ? 'ANY' : 'VALIDATED',
        ...(choice.names.length > 0 && { allowedFunctionNames: choice.names.map(legalToolName) }),
      };
    case 'native':
      return reportForeign('choice of tools', choice, losses);
    default:
      return choice satisfies never;
  }
}
