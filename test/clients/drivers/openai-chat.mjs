// The official openai library on chat completions.
import OpenAI from 'openai';
import { addressOf, contentOf, openaiUsage } from './shared.mjs';

export function chatDriver({ url, apiKey, retries = 0 }) {
  const client = new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: retries });
  return {
    models: () => named(client.models.list()),
    begin: ({ system, prompt }) => [
      ...(system ? [{ role: 'system', content: system }] : []),
      { role: 'user', content: contentOf(prompt, toPart) },
    ],
    async ask(scenario, messages, { signal, onText }) {
      const request = toRequest(scenario, messages);
      const { chat } = client;
      let reply;
      if (scenario.stream) {
        const streamed = { ...request, stream_options: { include_usage: true } };
        const stream = chat.completions.stream(streamed, { signal }).on('content', onText);
        reply = await stream.finalChatCompletion();
      } else {
        const ask = scenario.schema ? chat.completions.parse : chat.completions.create;
        reply = await ask.call(chat.completions, request, { signal });
      }
      return toTurn(reply);
    },
    more: (messages, { raw, calls }, resultOf) => [
      ...messages,
      raw,
      ...calls.map((call) => ({ role: 'tool', tool_call_id: call.id, content: toResult(resultOf(call)) })),
    ],
  };
}

function toRequest({ model, think, tools, choice, schema, stop, maxTokens, oneAtATime, extra }, messages) {
  return {
    model,
    messages,
    ...(think && { reasoning_effort: 'low' }),
    ...(tools && {
      tools: tools.map(({ name, description, schema: parameters }) => ({
        type: 'function',
        function: { name, description, parameters },
      })),
    }),
    ...(choice && {
      tool_choice: typeof choice === 'string' ? choice : { type: 'function', function: { name: choice.name } },
    }),
    ...(oneAtATime && { parallel_tool_calls: false }),
    ...(schema && { response_format: { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema } } }),
    ...(stop && { stop }),
    ...(maxTokens && { max_completion_tokens: maxTokens }),
    ...extra,
  };
}

function toTurn(reply) {
  const { message, finish_reason } = reply.choices[0];
  return {
    raw: message,
    id: reply.id,
    model: reply.model,
    text: message.content ?? '',
    refusal: message.refusal ?? '',
    reasoning: message.reasoning_content ?? '',
    calls: (message.tool_calls ?? []).map(({ id, function: call }) => ({
      id,
      name: call.name,
      args: JSON.parse(call.arguments),
    })),
    finish: finish_reason,
    sources: (message.annotations ?? []).map((each) => each.url_citation.url),
    usage: openaiUsage(reply.usage, 'prompt', 'completion'),
  };
}

function toPart(part) {
  switch (part.type) {
    case 'image':
      return { type: 'image_url', image_url: { url: addressOf(part) } };
    case 'audio':
      return { type: 'input_audio', input_audio: { data: part.data, format: 'wav' } };
    case 'document':
      return { type: 'file', file: { filename: part.name, file_data: addressOf(part) } };
    default:
      return part;
  }
}

const toResult = ({ text }) => text;

async function named(models) {
  const names = [];
  for await (const { id } of models) names.push(id);
  return names;
}
