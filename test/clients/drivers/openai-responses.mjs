// The official openai library on Responses, which keeps nothing and is given every item again.
import OpenAI from 'openai';
import { addressOf, contentOf, openaiUsage } from './shared.mjs';

export function responsesDriver({ url, apiKey, retries = 0 }) {
  const client = new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: retries });
  return {
    begin: ({ prompt }) => [{ role: 'user', content: contentOf(prompt, toPart) }],
    async ask(scenario, input, { signal, onText }) {
      const request = toRequest(scenario, input);
      const { responses } = client;
      let reply;
      if (scenario.stream) {
        const stream = responses
          .stream(request, { signal })
          .on('response.output_text.delta', ({ delta }) => onText(delta));
        reply = await stream.finalResponse();
      } else reply = await responses.create(request, { signal });
      return toTurn(reply);
    },
    more: (input, { raw, calls }, resultOf) => [
      ...input,
      ...raw,
      ...calls.map((call) => ({ type: 'function_call_output', call_id: call.id, output: toResult(resultOf(call)) })),
    ],
  };
}

function toRequest({ model, system, think, tools, choice, schema, maxTokens, oneAtATime, extra }, input) {
  return {
    model,
    input,
    store: false,
    ...(system && { instructions: system }),
    ...(think && { reasoning: { effort: 'low', summary: 'auto' }, include: ['reasoning.encrypted_content'] }),
    ...(tools && {
      tools: tools.map(({ name, description, schema: parameters }) => ({
        type: 'function',
        name,
        description,
        parameters,
        strict: false,
      })),
    }),
    ...(choice && { tool_choice: typeof choice === 'string' ? choice : { type: 'function', name: choice.name } }),
    ...(oneAtATime && { parallel_tool_calls: false }),
    ...(schema && { text: { format: { type: 'json_schema', name: 'answer', strict: true, schema } } }),
    ...(maxTokens && { max_output_tokens: maxTokens }),
    ...extra,
  };
}

function toTurn(reply) {
  const items = (type) => reply.output.filter((item) => item.type === type);
  const content = items('message').flatMap((item) => item.content);
  return {
    raw: reply.output,
    id: reply.id,
    model: reply.model,
    text: reply.output_text,
    refusal: content.map((part) => part.refusal ?? '').join(''),
    reasoning: items('reasoning')
      .flatMap((item) => item.summary)
      .map((part) => part.text)
      .join(''),
    calls: items('function_call').map((call) => ({
      id: call.call_id,
      name: call.name,
      args: JSON.parse(call.arguments),
    })),
    finish: reply.incomplete_details?.reason ?? reply.status,
    sources: content.flatMap((part) => part.annotations ?? []).map(({ url }) => url),
    usage: openaiUsage(reply.usage, 'input', 'output'),
  };
}

function toPart(part) {
  switch (part.type) {
    case 'image':
      return { type: 'input_image', image_url: addressOf(part), detail: 'auto' };
    case 'document':
      return { type: 'input_file', filename: part.name, file_data: addressOf(part) };
    default:
      return { type: 'input_text', text: part.text };
  }
}

function toResult({ text, image }) {
  if (!image) return text;
  return [
    { type: 'input_text', text },
    { type: 'input_image', image_url: addressOf(image), detail: 'auto' },
  ];
}
