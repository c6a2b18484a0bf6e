/** Tools and how they are to be chosen, as a request has them. */
import type { ChatCall, Tool, ToolChoice } from '../../../canonical/call.ts';
import type { Json, JsonObject } from '../../../canonical/json.ts';
import type { ModelQuirks } from '../../dialect.ts';
import { freeTextSchema } from '../free-text.ts';
import { reportForeignChoice } from '../request-tools.ts';
import { traitsOf } from './model-traits.ts';
import { GEMINI } from './name.ts';
import { toOpenapi } from './schema.ts';
import { legalToolName } from './tool-names.ts';

export interface WrittenTools {
  tools?: Json;
  toolConfig?: JsonObject;
}

/** All functions stand in one tool, as the provider wants it. */
export function writeTools(call: ChatCall, model: string, quirks: ModelQuirks, losses: Set<string>): WrittenTools {
  const functions = call.tools.map((tool) => writeFunction(tool, quirks, losses)).filter((one) => one !== undefined);
  const hosted = call.tools.map((tool) => writeHosted(tool, losses)).filter((one) => one !== undefined);
  const isMixed = functions.length > 0 && hosted.length > 0;
  const isModern = traitsOf(model).isModern;
  if (isMixed && !isModern)
    losses.add("The provider's own tools were dropped: the model does not take them beside functions.");
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
    losses.add(`The tool \`${tool.name}\` takes free text: the model was given it as a function.`);
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
  // An object without members is refused: no parameters at all mean the same.
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
        losses.add('The options of the web search were dropped: the model searches as it sees fit.');
      }
      return { googleSearch: {} };
    case 'vendor':
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
    case 'vendor':
      return reportForeignChoice(choice, losses);
    default:
      return choice satisfies never;
  }
}
