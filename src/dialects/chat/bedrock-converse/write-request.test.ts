import { describe, expect, test } from 'bun:test';
import { chatCall } from '../../../../test/helpers/chat-call.ts';
import type { ChatCall, Message, Part, Tool } from '../../../canonical/call.ts';
import { bedrockConverse } from './bedrock-converse.ts';

const NOVA = 'us.amazon.nova-2-lite-v1:0';
const CLAUDE = 'arn/anthropic.claude-sonnet-4-6';
const LLAMA = 'us.meta.llama4-maverick-17b-instruct-v1:0';
const TOOL: Tool = { type: 'function', name: 'look', parameters: { type: 'object', properties: {} } };
const SCHEMA = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false };
const OUTPUT = { type: 'json-schema', name: 'out', schema: SCHEMA } as const;

const user = (...parts: Part[]): Message => ({ role: 'user', parts });
const assistant = (...parts: Part[]): Message => ({ role: 'assistant', parts });
const text = (value: string, more = {}): Part => ({ type: 'text', text: value, ...more });

function written(model: string, change: Partial<ChatCall>) {
  const call = chatCall({ messages: [user(text('Hi'))], ...change });
  const { body, warnings } = bedrockConverse.writeCall(call, model, {});
  return { body: JSON.parse(Buffer.from(body).toString()), warnings };
}

describe('conversations', () => {
  test('begin with the user, alternate, and have tool results directly after their calls', () => {
    const { body } = written(NOVA, {
      tools: [TOOL],
      messages: [
        assistant(text('Hello.')),
        user(text('a')),
        user(text('b')),
        assistant({ type: 'tool-call', id: 'functions.look:0', name: 'look', input: '{"x":1}' }),
        user(text('meanwhile')),
        {
          role: 'tool',
          parts: [{ type: 'tool-result', callId: 'functions.look:0', parts: [text('seen')], failed: true }],
        },
      ],
    });
    const toolUseId = body.messages[3].content[0].toolUse.toolUseId;
    expect(toolUseId).toMatch(/^tooluse_[\w-]{24}$/);
    expect(body.messages).toEqual([
      { role: 'user', content: [{ text: '.' }] },
      { role: 'assistant', content: [{ text: 'Hello.' }] },
      { role: 'user', content: [{ text: 'a' }, { text: 'b' }] },
      { role: 'assistant', content: [{ toolUse: { toolUseId, name: 'look', input: { x: 1 } } }] },
      {
        role: 'user',
        content: [{ toolResult: { toolUseId, content: [{ text: 'seen' }], status: 'error' } }, { text: 'meanwhile' }],
      },
    ]);
  });

  test('a failed tool is reported in text if the model has no status for it', () => {
    const { body, warnings } = written(LLAMA, {
      messages: [
        user(text('a')),
        assistant({ type: 'tool-call', id: 't', name: 'look', input: '' }),
        { role: 'tool', parts: [{ type: 'tool-result', callId: 't', parts: [text('no')], failed: true }] },
      ],
    });
    expect(body.messages[2].content[0].toolResult).toEqual({
      toolUseId: 't',
      content: [{ text: 'The tool failed:' }, { text: 'no' }],
    });
    expect(warnings.join(' ')).toContain('failure of a tool');
    // Tools that the conversation uses must be declared.
    expect(body.toolConfig).toEqual({
      tools: [{ toolSpec: { name: 'look', inputSchema: { json: { type: 'object' } } } }],
    });
  });

  test('only thinking with its own signature is sent back, including hidden thinking', () => {
    const own = (value: string) => ({ dialect: 'bedrock-converse', value });
    const { body, warnings } = written(NOVA, {
      messages: [
        user(text('a')),
        assistant(
          { type: 'reasoning', text: 'hm', signature: own('sig') },
          { type: 'reasoning', text: '', signature: own('hidden:cmVk') },
          { type: 'reasoning', text: 'foreign', signature: { dialect: 'gemini', value: 'x' } },
          text('b'),
        ),
        user(text('c')),
      ],
    });
    expect(body.messages[1].content).toEqual([
      { reasoningContent: { reasoningText: { text: 'hm', signature: 'sig' } } },
      { reasoningContent: { redactedContent: 'cmVk' } },
      { text: 'b' },
    ]);
    expect(warnings).toHaveLength(1);
  });

  test('images and documents have unique names and a text beside them', () => {
    const pdf: Part = {
      type: 'media',
      media: { kind: 'document', source: { type: 'inline', base64: 'JVBERi0x' }, name: 'My.File!.pdf' },
    };
    const note: Part = {
      type: 'media',
      media: { kind: 'document', source: { type: 'text', text: 'Grüße' }, mimeType: 'text/plain', cite: true },
    };
    const { body } = written(NOVA, { messages: [user(pdf, pdf, note)] });
    expect(body.messages[0].content).toEqual([
      { document: { format: 'pdf', name: 'My File pdf (1)', source: { bytes: 'JVBERi0x' } } },
      { document: { format: 'pdf', name: 'My File pdf (2)', source: { bytes: 'JVBERi0x' } } },
      {
        document: {
          format: 'txt',
          name: 'document 3',
          source: { bytes: 'R3LDvMOfZQ==' },
          citations: { enabled: true },
        },
      },
      { text: '.' },
    ]);
    const video: Part = {
      type: 'media',
      media: { kind: 'video', source: { type: 'inline', base64: 'AAAA' }, mimeType: 'video/quicktime' },
    };
    expect(written(NOVA, { messages: [user(video)] }).body.messages[0].content[0]).toEqual({
      video: { format: 'mov', source: { bytes: 'AAAA' } },
    });
    const odd: Part = {
      type: 'media',
      media: { kind: 'image', source: { type: 'inline', base64: 'AAAA' }, mimeType: 'image/tiff' },
    };
    expect(() => written(NOVA, { messages: [user(odd)] })).toThrow('png, jpeg, gif, webp alone');
  });

  test('cache marks become cache points, as many and where the model accepts them', () => {
    const marked = { cache: { ttl: '1h' as const } };
    const messages = [{ role: 'system' as const, parts: [text('s', marked)] }, user(text('a', marked))];
    const tools: Tool[] = [{ ...TOOL, ...marked } as Tool];
    const claude = written(CLAUDE, { messages, tools });
    const point = { cachePoint: { type: 'default', ttl: '1h' } };
    expect([claude.body.toolConfig.tools[1], claude.body.system[1], claude.body.messages[0].content[1]]).toEqual([
      point,
      point,
      point,
    ]);
    const nova = written(NOVA, { messages, tools });
    expect(nova.body.toolConfig.tools).toHaveLength(1);
    expect(nova.body.system[1]).toEqual({ cachePoint: { type: 'default' } });
    expect(nova.warnings).toHaveLength(1);
    expect(written(LLAMA, { messages }).body.system).toEqual([{ text: 's' }]);
  });
});

describe('tools and answers', () => {
  test.each([
    [NOVA, { type: 'auto' }, { auto: {} }],
    [NOVA, { type: 'required' }, { any: {} }],
    [NOVA, { type: 'tool', name: 'look' }, { tool: { name: 'look' } }],
    [LLAMA, { type: 'required' }, undefined],
  ] as const)('%s: the choice %j is %j', (model, toolChoice, choice) => {
    const { body, warnings } = written(model, { tools: [TOOL], toolChoice });
    expect(body.toolConfig.toolChoice).toEqual(choice);
    expect(warnings).toHaveLength(choice ? 0 : 1);
  });

  test('if no tool may be called none is sent, unless the conversation has tool calls', () => {
    expect(written(NOVA, { tools: [TOOL], toolChoice: { type: 'none' } }).body.toolConfig).toBeUndefined();
    const messages = [
      user(text('a')),
      assistant({ type: 'tool-call', id: 't', name: 'look', input: '' }),
      user(text('b')),
    ];
    const { body, warnings } = written(NOVA, { tools: [TOOL], toolChoice: { type: 'none' }, messages });
    expect(body.toolConfig.tools).toHaveLength(1);
    expect(body.system.at(-1).text).toContain('Do not call');
    expect(warnings).toHaveLength(1);
  });

  test('a schema is enforced by the model, sent as a tool, or requested by an instruction', () => {
    const { outputConfig } = written(CLAUDE, { output: OUTPUT }).body;
    expect(JSON.parse(outputConfig.textFormat.structure.jsonSchema.schema)).toEqual(SCHEMA);
    expect(written(NOVA, { output: OUTPUT }).body.toolConfig).toMatchObject({
      toolChoice: { tool: { name: 'structured_answer' } },
    });
    const llama = written(LLAMA, { output: OUTPUT });
    expect(llama.body.system.at(-1).text).toContain('structured_answer');
    expect(llama.warnings).toHaveLength(1);
  });

  test('an answer in a tool is read as text', () => {
    const reply = {
      output: {
        message: {
          role: 'assistant',
          content: [{ toolUse: { toolUseId: 't', name: 'structured_answer', input: { a: 'b' } } }],
        },
      },
      stopReason: 'tool_use',
      usage: { inputTokens: 1, outputTokens: 1 },
    };
    const reader = bedrockConverse.reader(chatCall({ stream: false, output: OUTPUT }), 'application/json', {});
    reader.read(new TextEncoder().encode(JSON.stringify(reply)));
    const events = reader.end().flatMap((frame) => frame.events);
    expect(events).toContainEqual({ type: 'part-delta', choice: 0, part: 0, delta: '{"a":"b"}' });
    expect(events).toContainEqual({ type: 'choice-end', choice: 0, finish: { reason: 'stop', raw: 'tool_use' } });
  });
});

describe('reasoning', () => {
  test.each([
    [NOVA, { effort: 'medium' }, { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'medium' } }],
    [NOVA, { effort: 'none' }, { reasoningConfig: { type: 'disabled' } }],
    ['openai.gpt-oss-20b-1:0', { effort: 'xhigh' }, { reasoning_effort: 'high' }],
    [CLAUDE, { budgetTokens: 2000 }, { thinking: { type: 'enabled', budget_tokens: 2000 } }],
    [
      'anthropic.claude-opus-4-8',
      { effort: 'xhigh' },
      { thinking: { type: 'adaptive' }, output_config: { effort: 'xhigh' } },
    ],
    [LLAMA, { effort: 'high' }, undefined],
  ] as const)('%s with %j: %j', (model, reasoning, fields) => {
    expect(written(model, { reasoning }).body.additionalModelRequestFields).toEqual(fields);
  });

  test("Nova's highest effort excludes sampling settings and a token limit", () => {
    const hardest = { reasoning: { effort: 'high' as const }, sampling: { temperature: 0.2 } };
    const { body, warnings } = written(NOVA, hardest);
    expect([body.inferenceConfig, warnings.length]).toEqual([undefined, 1]);
    const bounded = written(NOVA, { ...hardest, maxOutputTokens: 100 });
    expect(bounded.body.inferenceConfig).toEqual({ maxTokens: 100, temperature: 0.2 });
    expect(bounded.body.additionalModelRequestFields).toMatchObject({
      reasoningConfig: { maxReasoningEffort: 'medium' },
    });
    expect(bounded.warnings).toHaveLength(1);
  });
});

test('what the format cannot express is reported; members of one model family have their own place', () => {
  const { body, warnings } = written(NOVA, {
    sampling: { seed: 1, presencePenalty: 1, topK: 5, temperature: 1.5, stop: ['  ', 'END'] },
    user: 'u',
    metadata: { team: 'a', odd: '{}' },
    serviceTier: 'flex',
  });
  expect(body).toMatchObject({
    inferenceConfig: { temperature: 1, stopSequences: ['END'] },
    additionalModelRequestFields: { inferenceConfig: { topK: 5 } },
    requestMetadata: { team: 'a' },
    serviceTier: { type: 'flex' },
  });
  for (const word of ['seed', 'presence_penalty', 'user', 'temperature', 'stop sequence', 'metadata']) {
    expect(warnings.join(' ')).toContain(word);
  }
});
