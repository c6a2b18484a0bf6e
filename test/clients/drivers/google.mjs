// The official Google library on generateContent.
import { GoogleGenAI } from '@google/genai';

export function geminiDriver({ url, apiKey, retries = 0, version }) {
  const retryOptions = retries > 0 ? { retryOptions: { attempts: retries + 1, initialDelay: 0.1 } } : {};
  const httpOptions = { baseUrl: url, ...retryOptions, ...(version && { apiVersion: version }) };
  const client = new GoogleGenAI({ apiKey, httpOptions });
  return {
    async models() {
      const names = [];
      for await (const { name } of await client.models.list({ config: { pageSize: 2, queryBase: true } }))
        names.push(name);
      return names;
    },
    // The library keeps the conversation itself.
    async chat({ model, prompts }) {
      const chat = client.chats.create({ model });
      const texts = [];
      for (const message of prompts) {
        let text = '';
        for await (const answer of await chat.sendMessageStream({ message })) text += answer.text ?? '';
        texts.push(text);
      }
      return { texts, history: chat.getHistory(true) };
    },
    begin: ({ prompt }) => [{ role: 'user', parts: toParts(prompt) }],
    async ask(scenario, contents, { signal, onText }) {
      const request = toRequest(scenario, contents, signal);
      const answers = [];
      if (scenario.stream) {
        for await (const answer of await client.models.generateContentStream(request)) {
          answers.push(answer);
          if (answer.text) onText(answer.text);
        }
      } else answers.push(await client.models.generateContent(request));
      return toTurn(answers);
    },
    more: (contents, { raw, calls }, resultOf) => [
      ...contents,
      raw,
      { role: 'user', parts: calls.map((call) => toResult(call, resultOf(call))) },
    ],
  };
}

const CHOICES = { auto: { mode: 'AUTO' }, required: { mode: 'ANY' }, none: { mode: 'NONE' } };

function toRequest({ model, system, think, tools, choice, schema, stop, maxTokens, extra }, contents, signal) {
  const chosen = typeof choice === 'object' ? { mode: 'ANY', allowedFunctionNames: [choice.name] } : CHOICES[choice];
  const config = {
    abortSignal: signal,
    ...(system && { systemInstruction: system }),
    ...(think && { thinkingConfig: { includeThoughts: true, thinkingBudget: 1024 } }),
    ...(tools && {
      tools: [
        {
          functionDeclarations: tools.map(({ name, description, schema: parametersJsonSchema }) => ({
            name,
            description,
            parametersJsonSchema,
          })),
        },
      ],
    }),
    ...(chosen && { toolConfig: { functionCallingConfig: chosen } }),
    ...(schema && { responseMimeType: 'application/json', responseJsonSchema: schema }),
    ...(stop && { stopSequences: stop }),
    ...(maxTokens && { maxOutputTokens: maxTokens }),
    ...extra,
  };
  return { model, contents, config };
}

function toTurn(answers) {
  const candidates = answers.flatMap((answer) => answer.candidates ?? []);
  const parts = candidates.flatMap((candidate) => candidate.content?.parts ?? []);
  const last = answers.at(-1);
  const usage = last.usageMetadata ?? {};
  const thoughts = usage.thoughtsTokenCount ?? 0;
  return {
    raw: { role: 'model', parts },
    id: last.responseId,
    model: last.modelVersion,
    text: joined(parts.filter((part) => !part.thought)),
    refusal: '',
    reasoning: joined(parts.filter((part) => part.thought)),
    calls: parts.flatMap(({ functionCall: call }) => (call ? [{ id: call.id, name: call.name, args: call.args }] : [])),
    finish: last.promptFeedback?.blockReason ?? candidates.at(-1)?.finishReason,
    sources: candidates
      .flatMap((candidate) => candidate.groundingMetadata?.groundingChunks ?? [])
      .map((chunk) => chunk.web?.uri),
    usage: {
      input: usage.promptTokenCount,
      output: (usage.candidatesTokenCount ?? 0) + thoughts,
      cachedInput: usage.cachedContentTokenCount ?? 0,
      reasoning: thoughts,
    },
  };
}

const joined = (parts) => parts.map((part) => part.text ?? '').join('');

function toParts(prompt) {
  if (typeof prompt === 'string') return [{ text: prompt }];
  return prompt.map((part) => (part.type === 'text' ? { text: part.text } : toBlob(part)));
}

const toBlob = ({ mediaType, data }) => ({ inlineData: { mimeType: mediaType, data } });

function toResult({ id, name }, { text, image, failed }) {
  const response = failed ? { error: text } : { output: text };
  return { functionResponse: { id, name, response, ...(image && { parts: [toBlob(image)] }) } };
}
