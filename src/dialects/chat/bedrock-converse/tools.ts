/** Tools, tool choice, and structured output. */
import type { ChatCall, Tool } from '../../../canonical/call.ts';
import type { JsonObject } from '../../../canonical/json.ts';
import { BEDROCK_CONVERSE } from '../names.ts';
import { freeTextSchema } from '../request/free-text.ts';
import { canBeStrict, strictSchema, toolSchema } from '../request/strict-schema.ts';
import { answerTool, JSON_INSTRUCTION, type JsonSchemaOutput } from '../request/structured-output.ts';
import { allowedTools, isStrictTool, reportForeign, reportFreeTextTool } from '../request/tools.ts';
import type { ConverseModelTraits } from './model-traits.ts';
import { legalToolName } from './tool-names.ts';
import type { PartWriter } from './write-parts.ts';

export interface ConverseWrittenTools {
  toolConfig?: JsonObject;
  /** `outputConfig.textFormat`. */
  textFormat?: JsonObject;
  /** Hints for the system prompt where the format has no member for the request. */
  instructions: string[];
}

export function writeTools(
  call: ChatCall,
  traits: ConverseModelTraits,
  parts: PartWriter,
  losses: Set<string>,
): ConverseWrittenTools {
  const written: ConverseWrittenTools = { instructions: [] };
  const tools = toolsOf(call, traits, parts, losses);
  const choice = tools.length > 0 ? choiceOf(call, traits, written, losses) : undefined;
  const { output } = call;
  let answers: JsonObject | undefined;
  if (output?.type === 'json') {
    losses.add('JSON output was requested by an instruction: the model has no JSON mode.');
    written.instructions.push(JSON_INSTRUCTION);
  } else if (output && traits.structuredOutput && (output.strict || canBeStrict(output.schema))) {
    written.textFormat = textFormat(output);
  } else if (output) {
    answers = addAnswerTool(tools, call, output, traits, written, losses);
  }
  const toolChoice = answers ?? choice;
  if (tools.length > 0) written.toolConfig = { tools, ...(toolChoice && { toolChoice }) };
  return written;
}

/**
 * The tools to send. None if no call is allowed, unless the conversation has tool calls: their tools must be declared.
 */
function toolsOf(call: ChatCall, traits: ConverseModelTraits, parts: PartWriter, losses: Set<string>): JsonObject[] {
  const called = calledTools(call);
  if (call.toolChoice?.type === 'none' && called.size === 0) return [];
  const tools = allowedTools(call, losses).flatMap((tool) => writeTool(tool, traits, parts, losses));
  if (tools.length > 0) return tools;
  return [...called].map((name) => ({ toolSpec: { name, inputSchema: { json: { type: 'object' } } } }));
}

function calledTools({ messages }: ChatCall): Set<string> {
  const calls = messages.flatMap(({ parts }) => parts.filter((part) => part.type === 'tool-call'));
  return new Set(calls.map(({ name }) => legalToolName(name)));
}

function writeTool(tool: Tool, traits: ConverseModelTraits, parts: PartWriter, losses: Set<string>): JsonObject[] {
  switch (tool.type) {
    case 'function': {
      const isStrict = isStrictTool(tool, traits.structuredOutput === true, losses);
      const schema = toolSchema(tool.parameters);
      const json = isStrict ? strictSchema(schema) : schema;
      return [
        { toolSpec: { ...named(tool), inputSchema: { json }, ...(isStrict && { strict: true }) } },
        ...mark(tool),
      ];
    }
    case 'custom':
      reportFreeTextTool(losses);
      return [
        {
          toolSpec: { ...named(tool), inputSchema: { json: { ...freeTextSchema(tool), additionalProperties: false } } },
        },
        ...mark(tool),
      ];
    case 'web-search':
      if (traits.webSearch !== undefined) return [{ systemTool: { name: traits.webSearch } }];
      losses.add('The web search was dropped: the model does not support it.');
      return [];
    case 'native':
      if (tool.dialect === BEDROCK_CONVERSE) return [{ ...tool.item }];
      reportForeign('tool', tool, losses);
      return [];
    default:
      return tool satisfies never;
  }

  function mark({ cache }: Extract<Tool, { name: string }>): JsonObject[] {
    return parts.cachePoint(cache, 'tools');
  }
}

function named({ name, description }: Extract<Tool, { name: string }>): JsonObject {
  return { name: legalToolName(name), ...(description && { description }) };
}

function choiceOf(
  { toolChoice, parallelToolCalls }: ChatCall,
  { forcible }: ConverseModelTraits,
  written: ConverseWrittenTools,
  losses: Set<string>,
): JsonObject | undefined {
  if (parallelToolCalls === false) losses.add('`parallel_tool_calls` was dropped: the model decides this itself.');
  switch (toolChoice?.type) {
    case undefined:
      return undefined;
    case 'auto':
      return { auto: {} };
    case 'none':
      losses.add('`tool_choice: none` was sent as an instruction: the model has no such setting.');
      written.instructions.push('Do not call any tool: answer in words.');
      return undefined;
    case 'required':
      return forcible ? { any: {} } : unforced(losses);
    case 'tool':
      return forcible ? { tool: { name: legalToolName(toolChoice.name) } } : unforced(losses);
    case 'allowed':
      if (toolChoice.mode === 'auto') return { auto: {} };
      return forcible ? { any: {} } : unforced(losses);
    case 'native':
      if (toolChoice.dialect === BEDROCK_CONVERSE) return toolChoice.item;
      return reportForeign('choice of tools', toolChoice, losses);
    default:
      return toolChoice satisfies never;
  }
}

function unforced(losses: Set<string>): undefined {
  losses.add('`tool_choice` was dropped: the model cannot be forced to call a tool.');
  return undefined;
}

function textFormat({ name, description, schema }: JsonSchemaOutput): JsonObject {
  const jsonSchema = {
    name: legalToolName(name),
    schema: JSON.stringify(strictSchema(schema)),
    ...(description && { description }),
  };
  return { type: 'json_schema', structure: { jsonSchema } };
}

/** A model without structured output returns it as the input of a tool. The reader turns it back into the answer. */
function addAnswerTool(
  tools: JsonObject[],
  call: ChatCall,
  output: JsonSchemaOutput,
  { forcible }: ConverseModelTraits,
  { instructions }: ConverseWrittenTools,
  losses: Set<string>,
): JsonObject | undefined {
  const { name, description, schema, instruction } = answerTool(call, output, legalToolName);
  const isAlone = tools.length === 0;
  tools.push({ toolSpec: { name, description, inputSchema: { json: schema } } });
  if (!forcible) {
    losses.add('The output schema was requested by an instruction: the model cannot be forced to follow it.');
    instructions.push(instruction);
    return undefined;
  }
  if (isAlone) return { tool: { name } };
  return call.toolChoice?.type === 'tool' ? undefined : { any: {} };
}
