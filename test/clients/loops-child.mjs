// Official libraries with a simple user: a tool loop that returns only what the format's types define, and single calls of the Responses
// resource. One JSON line in, one out; `id` joins the two.
import { createInterface } from 'node:readline';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';

const TOOL = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

async function chatTurn({ url, apiKey, model, stream, extra }, messages) {
  const client = new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });
  const tools = [{ type: 'function', function: { name: 'weather', parameters: TOOL } }];
  const request = { model, messages, tools, reasoning_effort: 'low', ...extra };
  const completion = stream
    ? await client.chat.completions.stream(request).finalChatCompletion()
    : await client.chat.completions.create(request);
  const { content, tool_calls: calls = [] } = completion.choices[0].message;
  const plain = calls.map(({ id, function: { name, arguments: args } }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(JSON.parse(args), null, 1) },
  }));
  messages.push({ role: 'assistant', content, ...(plain.length > 0 && { tool_calls: plain }) });
  for (const call of plain) messages.push({ role: 'tool', tool_call_id: call.id, content: `sunny ${messages.length}` });
  return { text: content ?? '', calls: plain.length };
}

async function geminiTurn({ url, apiKey, model, stream, extra }, contents) {
  const client = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: url } });
  const tools = [{ functionDeclarations: [{ name: 'weather', parametersJsonSchema: TOOL }] }];
  const request = { model, contents, config: { tools, thinkingConfig: { thinkingBudget: 1024 }, ...extra } };
  const answers = [];
  if (stream) for await (const answer of await client.models.generateContentStream(request)) answers.push(answer);
  else answers.push(await client.models.generateContent(request));
  const text = answers.map((answer) => answer.text ?? '').join('');
  const calls = answers.flatMap((answer) => answer.functionCalls ?? []);
  contents.push({
    role: 'model',
    parts: [...(text ? [{ text }] : []), ...calls.map(({ name, args }) => ({ functionCall: { name, args } }))],
  });
  if (calls.length > 0) {
    const result = { output: `sunny ${contents.length}` };
    contents.push({ role: 'user', parts: calls.map(({ name }) => ({ functionResponse: { name, response: result } })) });
  }
  return { text, calls: calls.length };
}

const BEGINNINGS = {
  chat: (prompt) => [{ role: 'user', content: prompt }],
  gemini: (prompt) => [{ role: 'user', parts: [{ text: prompt }] }],
};
const TURNS = { chat: chatTurn, gemini: geminiTurn };

/** Goes on from `history` where there is one. */
async function loop(scenario) {
  const history = scenario.history ?? BEGINNINGS[scenario.format](scenario.prompt);
  const turns = [];
  for (let turn = 0; turn < scenario.turns; turn++) turns.push(await TURNS[scenario.format](scenario, history));
  return { turns, history };
}

/** A method of `client.responses`, or of what is below it (`inputItems.list`), with these arguments. */
async function responses({ url, apiKey, method, args }) {
  const client = new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });
  const path = method.split('.');
  const owner = path.slice(0, -1).reduce((at, name) => at[name], client.responses);
  const result = await owner[path.at(-1)](...args);
  if (method === 'stream') return { result: await result.finalResponse() };
  if (result?.[Symbol.asyncIterator] === undefined) return { result };
  const listed = [];
  for await (const one of result) listed.push(one);
  return { listed };
}

async function run({ id, ...scenario }) {
  const view = { id };
  try {
    Object.assign(view, await (scenario.format ? loop(scenario) : responses(scenario)));
  } catch (thrown) {
    const { status = null, code = null, param = null, type = null } = thrown ?? {};
    view.error = { class: thrown?.constructor?.name, status, code, param, type, message: String(thrown?.message) };
  }
  process.stdout.write(`${JSON.stringify(view)}\n`);
}

// The library prints a warning about thoughts that it leaves out.
console.warn = () => {};
process.on('unhandledRejection', (thrown) => {
  process.stdout.write(`${JSON.stringify({ id: null, unhandled: String(thrown?.stack ?? thrown) })}\n`);
});
for await (const line of createInterface({ input: process.stdin })) void run(JSON.parse(line));
