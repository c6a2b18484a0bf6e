// The official Anthropic library on messages.
import Anthropic from '@anthropic-ai/sdk';
import { contentOf } from './shared.mjs';

export function messagesDriver({ url, apiKey, retries = 0 }) {
  const client = new Anthropic({ apiKey, baseURL: url, maxRetries: retries });
  return {
    async models() {
      const names = [];
      for await (const { id } of client.models.list({ limit: 2 })) names.push(id);
      return names;
    },
    begin: ({ prompt }) => [{ role: 'user', content: contentOf(prompt, toPart) }],
    async ask(scenario, messages, { signal, onText }) {
      const request = toRequest(scenario, messages);
      const reply = scenario.stream
        ? await client.messages.stream(request, { signal }).on('text', onText).finalMessage()
        : await client.messages.create(request, { signal });
      return toTurn(reply);
    },
    more: (messages, { raw, calls }, resultOf) => [
      ...messages,
      { role: 'assistant', content: raw },
      { role: 'user', content: calls.map((call) => toResult(call, resultOf(call))) },
    ],
  };
}

const CHOICES = { auto: { type: 'auto' }, required: { type: 'any' }, none: { type: 'none' } };

function toRequest({ model, system, think, tools, choice, schema, stop, maxTokens, oneAtATime, extra }, messages) {
  const chosen = typeof choice === 'object' ? { type: 'tool', name: choice.name } : CHOICES[choice];
  return {
    model,
    max_tokens: maxTokens ?? 2000,
    messages,
    ...(system && { system }),
    ...(think && { thinking: { type: 'enabled', budget_tokens: 1024 } }),
    ...(tools && {
      tools: tools.map(({ name, description, schema: input_schema }) => ({ name, description, input_schema })),
    }),
    ...((chosen || oneAtATime) && {
      tool_choice: { ...(chosen ?? CHOICES.auto), ...(oneAtATime && { disable_parallel_tool_use: true }) },
    }),
    ...(schema && { output_config: { format: { type: 'json_schema', schema } } }),
    ...(stop && { stop_sequences: stop }),
    ...extra,
  };
}

function toTurn(reply) {
  const blocks = (type) => reply.content.filter((block) => block.type === type);
  const { input_tokens, cache_read_input_tokens, cache_creation_input_tokens, output_tokens } = reply.usage;
  const cachedInput = cache_read_input_tokens ?? 0;
  return {
    raw: reply.content,
    id: reply.id,
    model: reply.model,
    text: joined(blocks('text'), 'text'),
    refusal: '',
    reasoning: joined(blocks('thinking'), 'thinking'),
    calls: blocks('tool_use').map(({ id, name, input }) => ({ id, name, args: input })),
    finish: reply.stop_reason,
    ...(reply.stop_sequence && { stopped: reply.stop_sequence }),
    sources: blocks('text')
      .flatMap((block) => block.citations ?? [])
      .map(({ url }) => url),
    usage: {
      input: input_tokens + cachedInput + (cache_creation_input_tokens ?? 0),
      output: output_tokens,
      cachedInput,
      reasoning: reply.usage.output_tokens_details?.thinking_tokens ?? 0,
    },
  };
}

const joined = (blocks, member) => blocks.map((block) => block[member]).join('');

const toPart = (part) => (part.type === 'text' ? part : { type: part.type, source: sourceOf(part) });

function sourceOf({ url, data, mediaType }) {
  return url ? { type: 'url', url } : { type: 'base64', media_type: mediaType, data };
}

function toResult(call, { text, image, failed }) {
  const content = image
    ? [
        { type: 'text', text },
        { type: 'image', source: sourceOf(image) },
      ]
    : text;
  return { type: 'tool_result', tool_use_id: call.id, content, ...(failed && { is_error: true }) };
}
