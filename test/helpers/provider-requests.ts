/** Parses requests to providers of all formats into one form, without any code of the gateway. */
import type { ProviderName } from './provider-answers.ts';

export type SentPart =
  | { type: 'text'; text: string }
  | { type: 'image' | 'document' | 'audio'; mediaType?: string; data?: string; url?: string }
  | { type: 'reasoning'; text: string; signature?: string }
  | { type: 'call'; id?: string; name: string; args: unknown; signature?: string }
  | { type: 'result'; id?: string; text: string; images: number; failed?: boolean };

/** Consecutive messages of one role are one turn; tool results belong to the user. */
export interface SentTurn {
  role: 'user' | 'assistant';
  parts: SentPart[];
}

export interface Sent {
  system: string;
  turns: SentTurn[];
  tools: { name: string; schema: unknown }[];
  choice?: 'auto' | 'required' | 'none' | { name: string };
  oneAtATime: boolean;
  schema?: unknown;
  stop: string[];
  maxTokens?: number;
  thinks: boolean;
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of four formats, looked into freely.
type Body = any;

/** Parses the body of a request to a provider. */
export function readSent(provider: ProviderName, body: Body): Sent {
  const sent = READERS[provider](body);
  return { ...sent, turns: joined(sent.turns) };
}

function joined(turns: readonly SentTurn[]): SentTurn[] {
  const merged: SentTurn[] = [];
  for (const { role, parts } of turns) {
    const last = merged.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else merged.push({ role, parts: [...parts] });
  }
  return merged;
}

const READERS: { readonly [provider in ProviderName]: (body: Body) => Sent } = {
  chat: (body) => ({
    system: body.messages.filter(isSystem).map(textOf).join('\n'),
    turns: body.messages.filter((message: Body) => !isSystem(message)).map(chatTurn),
    tools: (body.tools ?? []).map((tool: Body) => ({
      name: (tool.function ?? tool.custom).name,
      schema: tool.function?.parameters,
    })),
    ...choiceOf(body.tool_choice?.function ? { name: body.tool_choice.function.name } : body.tool_choice),
    oneAtATime: body.parallel_tool_calls === false,
    schema: body.response_format?.json_schema?.schema,
    stop: [body.stop ?? []].flat(),
    maxTokens: body.max_completion_tokens ?? body.max_tokens,
    thinks: body.reasoning_effort !== undefined,
  }),
  messages: (body) => ({
    system: typeof body.system === 'string' ? body.system : (body.system ?? []).map(textOf).join('\n'),
    turns: body.messages.map(({ role, content }: Body) => ({ role, parts: blocksOf(content).map(messagePart) })),
    tools: (body.tools ?? []).map((tool: Body) => ({ name: tool.name, schema: tool.input_schema })),
    ...choiceOf(
      body.tool_choice?.type === 'tool'
        ? { name: body.tool_choice.name }
        : body.tool_choice?.type === 'any'
          ? 'required'
          : body.tool_choice?.type,
    ),
    oneAtATime: body.tool_choice?.disable_parallel_tool_use === true,
    schema: body.output_config?.format?.schema,
    stop: body.stop_sequences ?? [],
    maxTokens: body.max_tokens,
    thinks: body.thinking !== undefined && body.thinking.type !== 'disabled',
  }),
  gemini: (body) => {
    const calling = body.toolConfig?.functionCallingConfig;
    const only = calling?.allowedFunctionNames;
    const modes: { [mode: string]: Sent['choice'] } = { AUTO: 'auto', ANY: 'required', NONE: 'none' };
    return {
      system: (body.systemInstruction?.parts ?? []).map(textOf).join('\n'),
      turns: body.contents.map(({ role, parts }: Body) => ({
        role: role === 'model' ? 'assistant' : 'user',
        parts: parts.map(geminiPart),
      })),
      tools: (body.tools ?? [])
        .flatMap((tool: Body) => tool.functionDeclarations ?? [])
        .map((tool: Body) => ({ name: tool.name, schema: tool.parametersJsonSchema ?? tool.parameters })),
      ...choiceOf(only?.length === 1 ? { name: only[0] } : modes[calling?.mode ?? '']),
      oneAtATime: false,
      schema: body.generationConfig?.responseJsonSchema ?? body.generationConfig?.responseSchema,
      stop: body.generationConfig?.stopSequences ?? [],
      maxTokens: body.generationConfig?.maxOutputTokens,
      thinks: body.generationConfig?.thinkingConfig !== undefined,
    };
  },
  responses: (body) => {
    const items = typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : body.input;
    const system = items.filter(isSystem).map(textOf);
    return {
      system: [...(body.instructions ? [body.instructions] : []), ...system].join('\n'),
      turns: items.filter((item: Body) => !isSystem(item)).map(responseTurn),
      tools: (body.tools ?? []).map((tool: Body) => ({ name: tool.name, schema: tool.parameters })),
      ...choiceOf(body.tool_choice?.type === 'function' ? { name: body.tool_choice.name } : body.tool_choice),
      oneAtATime: body.parallel_tool_calls === false,
      schema: body.text?.format?.schema,
      stop: [],
      maxTokens: body.max_output_tokens,
      thinks: body.reasoning !== undefined,
    };
  },
};

const choiceOf = (choice: Sent['choice']) => (choice === undefined ? {} : { choice });
const isSystem = ({ role }: Body) => role === 'system' || role === 'developer';
const blocksOf = (content: Body): Body[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
const textOf = (carrier: Body): string =>
  carrier.text ??
  blocksOf(carrier.content)
    .map((block) => block.text ?? '')
    .join('');

/** The parts of a data URL, or the URL as it is. */
function placed(address: string): { mediaType?: string; data?: string; url?: string } {
  const [, mediaType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(address) ?? [];
  return mediaType !== undefined && data !== undefined ? { mediaType, data } : { url: address };
}

/** A library may send an empty text beside its calls. */
function chatTurn(message: Body): SentTurn {
  if (message.role === 'tool') {
    const result: SentPart = { type: 'result', id: message.tool_call_id, text: textOf(message), images: 0 };
    return { role: 'user', parts: [result] };
  }
  const blocks = blocksOf(message.content).filter(({ text }) => text !== '');
  const parts = blocks.map((block): SentPart => {
    if (block.type === 'image_url') return { type: 'image', ...placed(block.image_url.url) };
    if (block.type === 'input_audio') {
      const { format, data } = block.input_audio;
      return { type: 'audio', mediaType: `audio/${format}`, data };
    }
    if (block.type === 'file') return { type: 'document', ...placed(block.file.file_data) };
    return { type: 'text', text: block.text };
  });
  if (message.reasoning_content) parts.unshift({ type: 'reasoning', text: message.reasoning_content });
  for (const { id, function: call } of message.tool_calls ?? []) {
    parts.push({ type: 'call', id, name: call.name, args: JSON.parse(call.arguments) });
  }
  return { role: message.role, parts };
}

function messagePart(block: Body): SentPart {
  switch (block.type) {
    case 'image':
    case 'document':
      return { type: block.type, mediaType: block.source.media_type, data: block.source.data, url: block.source.url };
    case 'thinking':
      return { type: 'reasoning', text: block.thinking, signature: block.signature };
    case 'tool_use':
      return { type: 'call', id: block.id, name: block.name, args: block.input };
    case 'tool_result': {
      const inside = blocksOf(block.content);
      const images = inside.filter(({ type }) => type === 'image').length;
      return {
        type: 'result',
        id: block.tool_use_id,
        text: textOf(block),
        images,
        ...(block.is_error && { failed: true }),
      };
    }
    default:
      return { type: 'text', text: block.text };
  }
}

function geminiPart(part: Body): SentPart {
  const { inlineData, fileData, functionCall, functionResponse, thoughtSignature: signature } = part;
  const media = inlineData ?? fileData;
  if (media) {
    const kinds: { [kind: string]: 'image' | 'audio' } = { image: 'image', audio: 'audio' };
    const type = kinds[media.mimeType.split('/')[0]] ?? 'document';
    return { type, mediaType: media.mimeType, data: media.data, url: media.fileUri };
  }
  if (functionCall) {
    return {
      type: 'call',
      id: functionCall.id,
      name: functionCall.name,
      args: functionCall.args ?? {},
      ...(signature && { signature }),
    };
  }
  if (functionResponse) {
    const { response, parts = [] } = functionResponse;
    const text = Object.values(response).map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
    return {
      type: 'result',
      id: functionResponse.id,
      text: text.join(''),
      images: parts.length,
      ...('error' in response && { failed: true }),
    };
  }
  if (part.thought) return { type: 'reasoning', text: part.text, ...(signature && { signature }) };
  return { type: 'text', text: part.text };
}

function responseTurn(item: Body): SentTurn {
  switch (item.type) {
    case 'function_call':
      return {
        role: 'assistant',
        parts: [{ type: 'call', id: item.call_id, name: item.name, args: JSON.parse(item.arguments) }],
      };
    case 'function_call_output': {
      const inside = blocksOf(item.output);
      const images = inside.filter(({ type }) => type === 'input_image').length;
      const text = inside.map((part) => part.text ?? '').join('');
      return { role: 'user', parts: [{ type: 'result', id: item.call_id, text, images }] };
    }
    case 'reasoning': {
      const text = item.summary.map((part: Body) => part.text).join('');
      return { role: 'assistant', parts: [{ type: 'reasoning', text, signature: item.encrypted_content }] };
    }
    default:
      return {
        role: item.role,
        parts: blocksOf(item.content).map((part): SentPart => {
          if (part.type === 'input_image') return { type: 'image', ...placed(part.image_url) };
          if (part.type === 'input_file') return { type: 'document', ...placed(part.file_data ?? part.file_url) };
          return { type: 'text', text: part.text };
        }),
      };
  }
}
