/** Tools, tool choice, and structured output. */
import type { ChatCall, Tool } from '../../../canonical/call.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import { ANTHROPIC_MESSAGES } from '../names.ts';
import { freeTextSchema } from '../request/free-text.ts';
import { canBeStrict, strictSchema, toolSchema } from '../request/strict-schema.ts';
import { answerTool, JSON_INSTRUCTION, type JsonSchemaOutput } from '../request/structured-output.ts';
import { allowedTools, isStrictTool, reportForeign, reportFreeTextTool } from '../request/tools.ts';
import type { MessagesModelTraits } from './model-traits.ts';
import { legalToolName } from './tool-names.ts';
import { marked } from './write-parts.ts';

interface MessagesWrittenTools {
  tools: JsonObject[];
  toolChoice?: JsonObject;
  /** `output_config.format`. */
  format?: JsonObject;
  /** A hint for the system prompt, if the format has no member for the request. */
  instruction?: string;
}

/** The web search tool that every model supports. */
const WEB_SEARCH = 'web_search_20250305';

/** `isForcible`: a tool call can be forced (older models cannot while they think). */
export function writeTools(
  call: ChatCall,
  traits: MessagesModelTraits,
  isForcible: boolean,
  losses: Set<string>,
): MessagesWrittenTools {
  const tools: JsonObject[] = [];
  for (const tool of allowedTools(call, losses)) {
    const item = writeTool(tool, traits, losses);
    if (item) tools.push(item);
  }
  const written: MessagesWrittenTools = { tools };
  const choice = tools.length > 0 ? writeChoice(call, isForcible, losses) : undefined;
  if (choice) written.toolChoice = choice;
  const { output } = call;
  if (output?.type === 'json') {
    losses.add('JSON output was requested by an instruction: the model has no JSON mode.');
    written.instruction = JSON_INSTRUCTION;
  } else if (output && traits.structuredOutput && (output.strict || canBeStrict(output.schema))) {
    written.format = { type: 'json_schema', schema: described(strictSchema(output.schema), output.description) };
  } else if (output) {
    addAnswerTool(written, call, output, isForcible, losses);
  }
  return written;
}

/** The description of the output becomes part of the schema: the format has no other place for it. */
function described(schema: Json, description: string | undefined): Json {
  return !isObject(schema) || description === undefined || schema.description !== undefined
    ? schema
    : { ...schema, description };
}

/** A model without structured output returns it as the input of a tool. The reader turns it back into the answer. */
function addAnswerTool(
  written: MessagesWrittenTools,
  call: ChatCall,
  output: JsonSchemaOutput,
  isForcible: boolean,
  losses: Set<string>,
): void {
  const { name, description, schema, instruction } = answerTool(call, output, legalToolName);
  const choice = written.tools.length > 0 ? (call.toolChoice?.type ?? 'auto') : 'none';
  written.tools.push({ name, description, input_schema: schema });
  if (!isForcible) {
    written.instruction = instruction;
    if (choice === 'none') delete written.toolChoice;
    losses.add(
      'The output schema was requested by an instruction: the model cannot be forced to follow it while it thinks.',
    );
  } else if (choice === 'none') {
    written.toolChoice = { type: 'tool', name, disable_parallel_tool_use: true };
  } else if (choice === 'auto') {
    written.toolChoice = { ...written.toolChoice, type: 'any' };
  }
}

function writeTool(tool: Tool, traits: MessagesModelTraits, losses: Set<string>): JsonObject | undefined {
  switch (tool.type) {
    case 'function': {
      const isStrict = isStrictTool(tool, traits.structuredOutput, losses);
      const schema = toolSchema(tool.parameters);
      if (tool.parameters && (tool.parameters.anyOf || tool.parameters.oneOf || tool.parameters.allOf)) {
        losses.add(
          "The union at the top of a tool's schema became one object: the model does not accept a union there.",
        );
      }
      const written = toolNamed(tool, isStrict ? strictSchema(schema) : schema);
      if (isStrict) written.strict = true;
      else if (tool.strict === false && traits.structuredOutput) written.strict = false;
      return marked(written, tool.cache);
    }
    case 'custom':
      reportFreeTextTool(losses);
      return marked(toolNamed(tool, { ...freeTextSchema(tool), additionalProperties: false }), tool.cache);
    case 'web-search':
      return {
        ...(tool.dialect === ANTHROPIC_MESSAGES ? tool.options : webSearch(tool.options, losses)),
        ...(tool.maxUses !== undefined && { max_uses: tool.maxUses }),
      };
    case 'native':
      if (tool.dialect === ANTHROPIC_MESSAGES) return { ...tool.item };
      return reportForeign('tool', tool, losses);
    default:
      return tool satisfies never;
  }
}

function toolNamed({ name, description }: Extract<Tool, { name: string }>, schema: Json): JsonObject {
  const tool: JsonObject = { name: legalToolName(name) };
  if (description !== undefined) tool.description = description;
  tool.input_schema = schema;
  return tool;
}

/** User location and domain filters are the same in every format. Everything else is specific to a provider. */
function webSearch(options: JsonObject, losses: Set<string>): JsonObject {
  const search: JsonObject = { type: WEB_SEARCH, name: 'web_search' };
  const { user_location: location, filters, ...others } = options;
  if (isObject(location)) search.user_location = { type: 'approximate', ...placeOf(location) };
  if (isObject(filters) && Array.isArray(filters.allowed_domains)) search.allowed_domains = filters.allowed_domains;
  const unsaid = Object.keys(others).filter((name) => name !== 'type');
  if (unsaid.length > 0) losses.add(`Of the web search \`${unsaid.join('`, `')}\` was dropped.`);
  return search;
}

function placeOf(location: JsonObject): JsonObject {
  const place = isObject(location.approximate) ? location.approximate : location;
  const given = ['city', 'region', 'country', 'timezone'].filter((name) => typeof place[name] === 'string');
  return Object.fromEntries(given.map((name) => [name, place[name] ?? null]));
}

function writeChoice(call: ChatCall, isForcible: boolean, losses: Set<string>): JsonObject | undefined {
  const choice = choiceOf(call, losses);
  if (choice?.type === 'none') return choice;
  const isForced = choice?.type === 'any' || choice?.type === 'tool';
  if (isForced && !isForcible) losses.add('`tool_choice` became "auto": the model cannot be forced while it thinks.');
  const kept = isForced && !isForcible ? { type: 'auto' } : choice;
  if (call.parallelToolCalls === false) return { ...(kept ?? { type: 'auto' }), disable_parallel_tool_use: true };
  return kept;
}

function choiceOf({ toolChoice }: ChatCall, losses: Set<string>): JsonObject | undefined {
  switch (toolChoice?.type) {
    case undefined:
      return undefined;
    case 'auto':
    case 'none':
      return { type: toolChoice.type };
    case 'required':
      return { type: 'any' };
    case 'tool':
      return { type: 'tool', name: legalToolName(toolChoice.name) };
    case 'allowed':
      return { type: toolChoice.mode === 'required' ? 'any' : 'auto' };
    case 'native':
      if (toolChoice.dialect === ANTHROPIC_MESSAGES) return toolChoice.item;
      return reportForeign('choice of tools', toolChoice, losses);
    default:
      return toolChoice satisfies never;
  }
}
