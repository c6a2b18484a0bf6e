// Hands bodies to the official library of their format and prints what its user sees of each:
// one JSON line in, one JSON line out. No network: the libraries' `fetch` answers with the body.
import { createInterface } from 'node:readline';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';

const apiKey = 'sk-nobody';
const model = 'public-model';
const prompt = 'Hello';
const turns = [{ role: 'user', content: prompt }];

const answering =
  ({ body, status, contentType }) =>
  async () =>
    new Response(body, { status, headers: { 'content-type': contentType } });
const openai = (scenario) =>
  new OpenAI({ apiKey, baseURL: 'http://nowhere/v1', maxRetries: 0, fetch: answering(scenario) });

// The third library has no way in but the global one: it asks for an address that names the scenario.
const waiting = new Map();
globalThis.fetch = (url) => answering(waiting.get(new URL(url).hostname.split('.')[0]))();

const joined = (parts, member) => parts.map((part) => part[member] ?? '').join('');
const parsed = (text) => {
  try {
    return JSON.parse(text === '' ? '{}' : text);
  } catch {
    return text;
  }
};

const READERS = {
  async 'openai-chat'(scenario) {
    const { completions } = openai(scenario).chat;
    const params = { model, messages: turns };
    const reply = scenario.stream
      ? await completions.stream({ ...params, stream_options: { include_usage: true } }).finalChatCompletion()
      : await completions.create(params);
    return reply.choices.map(({ message, finish_reason }) => ({
      text: message.content ?? '',
      // The helper does not add it up.
      reasoning: scenario.stream ? undefined : (message.reasoning_content ?? ''),
      refusal: message.refusal ?? '',
      calls: (message.tool_calls ?? []).map(({ type, function: call, custom }) =>
        type === 'custom' ? [custom.name, custom.input] : [call.name, parsed(call.arguments)],
      ),
      finish: finish_reason,
    }));
  },

  async 'openai-completions'(scenario) {
    const { completions } = openai(scenario);
    const choices = [];
    const take = ({ text, index, finish_reason }) => {
      choices[index] ??= { text: '', finish: null };
      choices[index].text += text;
      choices[index].finish = finish_reason ?? choices[index].finish;
    };
    if (scenario.stream) {
      for await (const chunk of await completions.create({ model, prompt, stream: true })) chunk.choices.forEach(take);
    } else (await completions.create({ model, prompt })).choices.forEach(take);
    return choices;
  },

  async 'openai-responses'(scenario) {
    const { responses } = openai(scenario);
    const reply = scenario.stream
      ? await responses.stream({ model, input: prompt }).finalResponse()
      : await responses.create({ model, input: prompt });
    if (reply.status === 'failed') throw new Error(`failed: ${reply.error?.message}`);
    const items = (type) => reply.output.filter((item) => item.type === type);
    const content = items('message').flatMap((item) => item.content);
    const calls = reply.output.flatMap((item) => {
      if (item.type === 'function_call') return [[item.name, parsed(item.arguments)]];
      return item.type === 'custom_tool_call' ? [[item.name, item.input]] : [];
    });
    const textOfItem = (item) => joined(item.summary.length > 0 ? item.summary : (item.content ?? []), 'text');
    return [
      {
        text: reply.output_text,
        reasoning: items('reasoning').map(textOfItem).join(''),
        refusal: joined(
          content.filter((part) => part.type === 'refusal'),
          'refusal',
        ),
        calls,
        finish: reply.incomplete_details?.reason ?? reply.status,
      },
    ];
  },

  async 'anthropic-messages'(scenario) {
    const { messages } = new Anthropic({
      apiKey,
      baseURL: 'http://nowhere',
      maxRetries: 0,
      fetch: answering(scenario),
    });
    const params = { model, max_tokens: 100, messages: turns };
    const reply = scenario.stream ? await messages.stream(params).finalMessage() : await messages.create(params);
    if (typeof reply.usage.output_tokens !== 'number') throw new Error('no usage');
    const blocks = (type) => reply.content.filter((block) => block.type === type);
    return [
      {
        text: joined(blocks('text'), 'text'),
        reasoning: joined(blocks('thinking'), 'thinking'),
        calls: blocks('tool_use').map(({ name, input }) => [name, input]),
        finish: reply.stop_reason,
      },
    ];
  },

  async gemini(scenario) {
    const host = `r${scenario.id}`;
    waiting.set(host, scenario);
    const client = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: `http://${host}.nowhere` } });
    const chat = client.chats.create({ model });
    const answers = [];
    try {
      const params = { message: prompt };
      if (scenario.stream) for await (const answer of await chat.sendMessageStream(params)) answers.push(answer);
      else answers.push(await chat.sendMessage(params));
    } finally {
      waiting.delete(host);
    }
    const choices = [];
    for (const { candidates = [] } of answers) {
      for (const { index = 0, content, finishReason } of candidates) {
        choices[index] ??= { text: '', reasoning: '', calls: [], finish: null };
        const choice = choices[index];
        for (const { text, thought, functionCall } of content?.parts ?? []) {
          if (functionCall) choice.calls.push([functionCall.name, functionCall.args ?? {}]);
          else choice[thought ? 'reasoning' : 'text'] += text ?? '';
        }
        choice.finish = finishReason ?? choice.finish;
      }
    }
    // Without the model's turn the next one has no context.
    if (choices.length > 0) choices[0].isRemembered = chat.getHistory(true).length > 1;
    return choices;
  },
};

async function run(scenario) {
  const view = { id: scenario.id };
  try {
    view.choices = await READERS[scenario.format](scenario);
  } catch (thrown) {
    view.error = {
      class: thrown?.constructor?.name,
      status: thrown?.status ?? null,
      message: String(thrown?.message ?? thrown).slice(0, 300),
    };
  }
  process.stdout.write(`${JSON.stringify(view)}\n`);
}

process.on('unhandledRejection', (thrown) => {
  process.stdout.write(`${JSON.stringify({ id: null, unhandled: String(thrown?.stack ?? thrown) })}\n`);
});
for await (const line of createInterface({ input: process.stdin })) void run(JSON.parse(line));
