/** The same reply in the format of each provider, streaming and non-streaming, for tests of all pairs of formats. */

import type { Answer } from '../upstream/answer.ts';
import { endOf, FEW, type ModelOutput } from './model-output.ts';

export interface ProviderAnswers {
  /** The row of the providers table. */
  type: string;
  upstreamModel: string;
  whole(modelOutput: ModelOutput): Answer;
  stream(modelOutput: ModelOutput): Answer;
  error(status: number, message: string): Answer;
}

export type ProviderName = 'chat' | 'messages' | 'gemini' | 'responses';

/** A signature that only its own provider accepts. */
export const SIGNATURE = 'c2VhbGVkLWJ5LXRoZS12ZW5kb3I=';

const openaiError = (status: number, message: string): Answer => ({
  status,
  json: { error: { message, type: 'invalid_request_error', param: null, code: 'provider_code' } },
});

const textOf = ({ texts = [] }: ModelOutput) => texts.join('');
const citationsOf = (modelOutput: ModelOutput) =>
  (modelOutput.sources ?? []).map((source) => ({ ...source, start_index: 0, end_index: textOf(modelOutput).length }));
const annotationsOf = (modelOutput: ModelOutput) =>
  citationsOf(modelOutput).map((url_citation) => ({ type: 'url_citation', url_citation }));
const chatCalls = ({ calls = [] }: ModelOutput) =>
  calls.map(({ id, name, args }) => ({ id, type: 'function', function: { name, arguments: JSON.stringify(args) } }));

const chatUsage = ({ tokens: { input, cachedInput, output, reasoning } = FEW }: ModelOutput) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  prompt_tokens_details: { cached_tokens: cachedInput },
  completion_tokens_details: { reasoning_tokens: reasoning },
});
const chatFinish = (modelOutput: ModelOutput) =>
  endOf(modelOutput, {
    over: 'stop',
    calls: 'tool_calls',
    length: 'length',
    filtered: 'content_filter',
    stop: 'stop',
  });
const CHAT_BASE = { id: 'chatcmpl-upstream', created: 1_790_000_000, model: 'upstream-model' };

const chat: ProviderAnswers = {
  type: 'openai-compatible',
  upstreamModel: 'upstream-model',
  whole(modelOutput) {
    const calls = chatCalls(modelOutput);
    const message = {
      role: 'assistant',
      content: modelOutput.texts ? textOf(modelOutput) : null,
      ...(modelOutput.sources && { annotations: annotationsOf(modelOutput) }),
      ...(modelOutput.thought !== undefined && { reasoning_content: modelOutput.thought }),
      ...(calls.length > 0 && { tool_calls: calls }),
    };
    const choices = [{ index: 0, message, finish_reason: chatFinish(modelOutput) }];
    return { json: { ...CHAT_BASE, object: 'chat.completion', choices, usage: chatUsage(modelOutput) } };
  },
  stream(modelOutput) {
    const event = (delta: object, finish: string | null = null) => ({
      ...CHAT_BASE,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
    const calls = chatCalls(modelOutput);
    const events = [
      event({ role: 'assistant', content: '' }),
      ...(modelOutput.thought === undefined ? [] : [event({ reasoning_content: modelOutput.thought })]),
      ...(modelOutput.texts ?? []).map((content) => event({ content })),
      ...(modelOutput.sources ? [event({ annotations: annotationsOf(modelOutput) })] : []),
      ...calls.flatMap((call, index) => {
        const text = call.function.arguments;
        const first = { ...call, index, function: { ...call.function, arguments: text.slice(0, 4) } };
        return [
          event({ tool_calls: [first] }),
          event({ tool_calls: [{ index, function: { arguments: text.slice(4) } }] }),
        ];
      }),
      event({}, chatFinish(modelOutput)),
      { ...CHAT_BASE, object: 'chat.completion.chunk', choices: [], usage: chatUsage(modelOutput) },
    ];
    return { events };
  },
  error: openaiError,
};

const messageCitations = (modelOutput: ModelOutput) =>
  (modelOutput.sources ?? []).map((source) => ({
    type: 'web_search_result_location',
    ...source,
    encrypted_index: 'aW5kZXg=',
    cited_text: textOf(modelOutput),
  }));
const messageBlocks = ({ thought, texts, calls = [], ...modelOutput }: ModelOutput) => [
  ...(thought === undefined ? [] : [{ type: 'thinking', thinking: thought, signature: SIGNATURE }]),
  ...(texts
    ? [
        {
          type: 'text',
          text: texts.join(''),
          ...(modelOutput.sources && { citations: messageCitations({ ...modelOutput, texts }) }),
        },
      ]
    : []),
  ...calls.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args })),
];
const messageEnd = (modelOutput: ModelOutput) => ({
  stop_reason: endOf(modelOutput, {
    over: 'end_turn',
    calls: 'tool_use',
    length: 'max_tokens',
    filtered: 'refusal',
    stop: 'stop_sequence',
  }),
  stop_sequence: typeof modelOutput.ends === 'object' ? modelOutput.ends.stop : null,
});
const messageUsage = ({ tokens: { input, cachedInput, output, reasoning } = FEW }: ModelOutput) => ({
  input_tokens: input - cachedInput,
  cache_read_input_tokens: cachedInput,
  output_tokens: output,
  ...(reasoning > 0 && { output_tokens_details: { thinking_tokens: reasoning } }),
});
const MESSAGE = { id: 'msg_upstream', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5' };

const messages: ProviderAnswers = {
  type: 'anthropic',
  upstreamModel: 'claude-sonnet-4-5',
  whole: (modelOutput) => ({
    json: {
      ...MESSAGE,
      content: messageBlocks(modelOutput),
      ...messageEnd(modelOutput),
      usage: messageUsage(modelOutput),
    },
  }),
  stream(modelOutput) {
    const event = (payload: { type: string; [member: string]: unknown }) =>
      `event: ${payload.type}\ndata: ${JSON.stringify(payload)}\n\n`;
    const block = (index: number, opens: object, deltas: readonly object[]) => [
      event({ type: 'content_block_start', index, content_block: opens }),
      ...deltas.map((delta) => event({ type: 'content_block_delta', index, delta })),
      event({ type: 'content_block_stop', index }),
    ];
    const blocks: [object, object[]][] = [];
    if (modelOutput.thought !== undefined) {
      const deltas = [
        { type: 'thinking_delta', thinking: modelOutput.thought },
        { type: 'signature_delta', signature: SIGNATURE },
      ];
      blocks.push([{ type: 'thinking', thinking: '', signature: '' }, deltas]);
    }
    if (modelOutput.texts) {
      const deltas: object[] = modelOutput.texts.map((text) => ({ type: 'text_delta', text }));
      for (const citation of messageCitations(modelOutput)) deltas.push({ type: 'citations_delta', citation });
      blocks.push([{ type: 'text', text: '', ...(modelOutput.sources && { citations: [] }) }, deltas]);
    }
    for (const { id, name, args } of modelOutput.calls ?? []) {
      const text = JSON.stringify(args);
      const deltas = [text.slice(0, 4), text.slice(4)].map((partial_json) => ({
        type: 'input_json_delta',
        partial_json,
      }));
      blocks.push([{ type: 'tool_use', id, name, input: {} }, deltas]);
    }
    const { output_tokens: _, ...beginning } = messageUsage(modelOutput);
    const start = { ...MESSAGE, content: [], stop_reason: null, usage: { ...beginning, output_tokens: 1 } };
    const events = [
      event({ type: 'message_start', message: start }),
      ...blocks.flatMap(([opens, deltas], index) => block(index, opens, deltas)),
      event({ type: 'message_delta', delta: messageEnd(modelOutput), usage: messageUsage(modelOutput) }),
      event({ type: 'message_stop' }),
    ];
    return { events, withoutTerminator: true };
  },
  error: (status, message) => ({
    status,
    json: { type: 'error', error: { type: status < 500 ? 'invalid_request_error' : 'api_error', message } },
  }),
};

const GEMINI_BASE = { modelVersion: 'gemini-2.5-flash', responseId: 'upstream' };
const geminiFinish = (modelOutput: ModelOutput) =>
  endOf(modelOutput, { over: 'STOP', calls: 'STOP', length: 'MAX_TOKENS', filtered: 'SAFETY', stop: 'STOP' });
const groundingOf = (modelOutput: ModelOutput) => ({
  webSearchQueries: ['cities'],
  groundingChunks: (modelOutput.sources ?? []).map(({ url: uri, title }) => ({ web: { uri, title } })),
  groundingSupports: (modelOutput.sources ?? []).map((_, index) => ({
    segment: { startIndex: 0, endIndex: Buffer.byteLength(textOf(modelOutput)), text: textOf(modelOutput) },
    groundingChunkIndices: [index],
  })),
});
function geminiAnswer(modelOutput: ModelOutput, parts: readonly object[], last = true) {
  const { input, cachedInput, output, reasoning } = modelOutput.tokens ?? FEW;
  const spoken = last ? output - reasoning : 1;
  return {
    candidates: [
      {
        content: { role: 'model', parts },
        index: 0,
        ...(last && { finishReason: geminiFinish(modelOutput) }),
        ...(last && modelOutput.sources && { groundingMetadata: groundingOf(modelOutput) }),
      },
    ],
    usageMetadata: {
      promptTokenCount: input,
      ...(cachedInput > 0 && { cachedContentTokenCount: cachedInput }),
      candidatesTokenCount: spoken,
      ...(last && reasoning > 0 && { thoughtsTokenCount: reasoning }),
      totalTokenCount: input + spoken + (last ? reasoning : 0),
    },
    ...GEMINI_BASE,
  };
}
const geminiParts = ({ thought, texts = [], calls = [] }: ModelOutput) => [
  ...(thought === undefined ? [] : [{ text: thought, thought: true }]),
  ...texts.map((text) => ({ text })),
  ...calls.map(({ id, name, args }) => ({
    functionCall: { ...(id !== '' && { id }), name, args },
    ...(thought !== undefined && { thoughtSignature: SIGNATURE }),
  })),
];

const gemini: ProviderAnswers = {
  type: 'google',
  upstreamModel: 'gemini-2.5-flash',
  whole: (modelOutput) => ({ json: geminiAnswer(modelOutput, geminiParts(modelOutput)) }),
  stream(modelOutput) {
    const parts = geminiParts(modelOutput);
    const events = parts.map((part, index) => {
      return `data: ${JSON.stringify(geminiAnswer(modelOutput, [part], index === parts.length - 1))}\r\n\r\n`;
    });
    return { events, withoutTerminator: true };
  },
  error: (status, message) => ({
    status,
    json: { error: { code: status, message, status: status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL' } },
  }),
};

const responseUsage = ({ tokens: { input, cachedInput, output, reasoning } = FEW }: ModelOutput) => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: cachedInput },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: reasoning },
  total_tokens: input + output,
});
const responseEnd = (modelOutput: ModelOutput) =>
  endOf(modelOutput, {
    over: undefined,
    calls: undefined,
    stop: undefined,
    length: 'max_output_tokens',
    filtered: 'content_filter',
  });
const responseOf = (modelOutput: ModelOutput, output?: readonly object[]) => ({
  id: 'resp_upstream',
  object: 'response',
  created_at: 1_790_000_000,
  model: 'gpt-6-astra',
  error: null,
  parallel_tool_calls: true,
  tools: [],
  ...(output === undefined
    ? { status: 'in_progress', output: [], incomplete_details: null }
    : endedOf(modelOutput, output)),
});
function endedOf(modelOutput: ModelOutput, output: readonly object[]) {
  const reason = responseEnd(modelOutput);
  return {
    status: reason ? 'incomplete' : 'completed',
    output,
    incomplete_details: reason ? { reason } : null,
    usage: responseUsage(modelOutput),
  };
}
const part = (text: string, annotations: readonly object[] = []) => ({ type: 'output_text', text, annotations });
const responseAnnotations = (modelOutput: ModelOutput) =>
  citationsOf(modelOutput).map((citation) => ({ type: 'url_citation', ...citation }));
const responseItems = ({ thought, texts, calls = [], ...modelOutput }: ModelOutput) => [
  ...(thought === undefined
    ? []
    : [
        {
          type: 'reasoning',
          id: 'rs_1',
          summary: [{ type: 'summary_text', text: thought }],
          encrypted_content: SIGNATURE,
        },
      ]),
  ...(texts
    ? [
        {
          type: 'message',
          id: 'item_1',
          role: 'assistant',
          status: 'completed',
          content: [part(texts.join(''), responseAnnotations({ ...modelOutput, texts }))],
        },
      ]
    : []),
  ...calls.map(({ id, name, args }, index) => ({
    type: 'function_call',
    id: `fc_${index}`,
    call_id: id,
    name,
    arguments: JSON.stringify(args),
    status: 'completed',
  })),
];

const responses: ProviderAnswers = {
  type: 'openai',
  // A model that supports tools only in Responses.
  upstreamModel: 'gpt-6-astra',
  whole: (modelOutput) => ({ json: responseOf(modelOutput, responseItems(modelOutput)) }),
  stream(modelOutput) {
    const event = (type: string, members: object) => ({ type, members });
    const items = responseItems(modelOutput);
    const events = [
      event('response.created', { response: responseOf(modelOutput) }),
      ...items.flatMap((item, output_index) => {
        const at = { output_index, item_id: item.id };
        const inner: { type: string; members: object }[] = [];
        let opened: object = { ...item, status: 'in_progress' };
        if ('summary' in item) {
          opened = { ...item, summary: [] };
          const where = { ...at, summary_index: 0 };
          const text = modelOutput.thought ?? '';
          inner.push(
            event('response.reasoning_summary_part.added', { ...where, part: { type: 'summary_text', text: '' } }),
            event('response.reasoning_summary_text.delta', { ...where, delta: text }),
            event('response.reasoning_summary_text.done', { ...where, text }),
            event('response.reasoning_summary_part.done', { ...where, part: { type: 'summary_text', text } }),
          );
        } else if ('content' in item) {
          opened = { ...item, status: 'in_progress', content: [] };
          const where = { ...at, content_index: 0 };
          inner.push(
            event('response.content_part.added', { ...where, part: part('') }),
            ...(modelOutput.texts ?? []).map((delta) =>
              event('response.output_text.delta', { ...where, delta, logprobs: [] }),
            ),
            ...responseAnnotations(modelOutput).map((annotation, annotation_index) =>
              event('response.output_text.annotation.added', { ...where, annotation_index, annotation }),
            ),
            event('response.output_text.done', { ...where, text: textOf(modelOutput), logprobs: [] }),
            event('response.content_part.done', {
              ...where,
              part: part(textOf(modelOutput), responseAnnotations(modelOutput)),
            }),
          );
        } else {
          opened = { ...item, status: 'in_progress', arguments: '' };
          inner.push(
            event('response.function_call_arguments.delta', { ...at, delta: item.arguments }),
            event('response.function_call_arguments.done', { ...at, arguments: item.arguments }),
          );
        }
        return [
          event('response.output_item.added', { output_index, item: opened }),
          ...inner,
          event('response.output_item.done', { output_index, item }),
        ];
      }),
      event(`response.${responseEnd(modelOutput) ? 'incomplete' : 'completed'}`, {
        response: responseOf(modelOutput, items),
      }),
    ];
    const numbered = events.map(
      ({ type, members }, index) =>
        `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: index, ...members })}\n\n`,
    );
    return { events: numbered, withoutTerminator: true };
  },
  error: openaiError,
};

export const PROVIDERS: { readonly [name in ProviderName]: ProviderAnswers } = { chat, messages, gemini, responses };
