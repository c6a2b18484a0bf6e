import { describe, expect, test } from 'bun:test';
import { call, NEW, OLD, user, write } from '../../../../test/helpers/anthropic-call.ts';
import type { JsonObject } from '../../../canonical/json.ts';

describe('tools', () => {
  const tool = {
    type: 'function' as const,
    name: 'look',
    description: 'd',
    parameters: { type: 'object', properties: { a: { type: 'number', minimum: 3 } } },
  };

  test("have a schema, and strictness in the provider's form", () => {
    const { body } = write({
      tools: [
        { ...tool, strict: true },
        { type: 'function', name: 'none' },
      ],
    });
    expect(body.tools).toEqual([
      {
        name: 'look',
        description: 'd',
        strict: true,
        input_schema: {
          type: 'object',
          properties: { a: { type: 'number', description: '{minimum: 3}' } },
          additionalProperties: false,
        },
      },
      { name: 'none', input_schema: { type: 'object', properties: {} } },
    ]);
    const old = write({ tools: [{ ...tool, strict: true }] }, OLD);
    expect(old.body.tools).toEqual([{ name: 'look', description: 'd', input_schema: tool.parameters }]);
    expect(old.warnings).toContain('`strict`');
  });

  test('have no union at the top of their schema, and legal names', () => {
    const parameters = {
      anyOf: [{ properties: { a: { type: 'string' } }, required: ['a'] }, { properties: { b: { type: 'string' } } }],
    };
    const { body, warnings } = write({ tools: [{ type: 'function', name: 'files.read:all', parameters }] });
    const [written] = body.tools as JsonObject[];
    expect(written?.name).toMatch(/^files_read_all_[a-zA-Z0-9_-]{8}$/);
    expect(written?.input_schema).toEqual({
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' } },
    });
    expect(warnings).toContain('union at the top');
  });

  test.each([
    ['auto', { type: 'auto' as const }, { type: 'auto' }],
    ['none', { type: 'none' as const }, { type: 'none' }],
    ['required', { type: 'required' as const }, { type: 'any' }],
    ['named', { type: 'tool' as const, name: 'look' }, { type: 'tool', name: 'look' }],
    ['allowed', { type: 'allowed' as const, mode: 'required' as const, names: ['look'] }, { type: 'any' }],
  ])('are chosen: %s', (_, toolChoice, written) => {
    const other = { ...tool, name: 'other' };
    const { body } = write({ tools: [tool, other], toolChoice });
    expect(body.tool_choice).toEqual(written);
    expect((body.tools as JsonObject[]).length).toBe(toolChoice.type === 'allowed' ? 1 : 2);
    const single = write({ tools: [tool], toolChoice, parallelToolCalls: false }).body.tool_choice;
    expect(single).toEqual(written.type === 'none' ? written : { ...written, disable_parallel_tool_use: true });
  });

  test('are not forced on an older model that thinks', () => {
    const forced = { tools: [tool], toolChoice: { type: 'required' as const }, reasoning: { effort: 'low' as const } };
    expect(write(forced).body.tool_choice).toEqual({ type: 'auto' });
    expect(write(forced).warnings).toContain('`tool_choice`');
    expect(write(forced, NEW).body.tool_choice).toEqual({ type: 'any' });
  });

  test('with free text are functions with one string; those of other providers are dropped', () => {
    const { body, warnings } = write({
      tools: [
        { type: 'custom', name: 'patch', format: { type: 'grammar', syntax: 'lark' } },
        { type: 'native', dialect: 'openai-responses', item: { type: 'mcp' } },
        {
          type: 'web-search',
          dialect: 'openai-chat',
          options: { user_location: { approximate: { city: 'Bern' } }, search_context_size: 'low' },
        },
      ],
      messages: [user('Go.'), { role: 'assistant', parts: [{ ...call('c', 'patch', 'raw "text"'), custom: true }] }],
    });
    const [patch, search] = body.tools as JsonObject[];
    expect(patch?.input_schema).toMatchObject({ required: ['input'] });
    expect(search).toEqual({
      type: 'web_search_20250305',
      name: 'web_search',
      user_location: { type: 'approximate', city: 'Bern' },
    });
    expect(JSON.stringify(body.messages)).toContain('"input":{"input":"raw \\"text\\""}');
    for (const loss of ['free-text', 'openai-responses', 'search_context_size']) expect(warnings).toContain(loss);
  });
});

describe('structured output', () => {
  const output = {
    type: 'json-schema' as const,
    name: 'city',
    strict: true,
    schema: { type: 'object', properties: { name: { type: 'string', maxLength: 5 } } },
  };

  test('is native if the model supports it', () => {
    const { body } = write({ output });
    expect(body.output_config).toEqual({
      format: {
        type: 'json_schema',
        schema: {
          type: 'object',
          properties: { name: { type: 'string', description: '{maxLength: 5}' } },
          additionalProperties: false,
        },
      },
    });
    expect(body.tools).toBeUndefined();
  });

  test('is a forced tool on older models, one of several beside other tools', () => {
    const alone = write({ output }, OLD).body;
    expect(alone.tools).toEqual([expect.objectContaining({ name: 'structured_answer', input_schema: output.schema })]);
    expect(alone.tool_choice).toEqual({ type: 'tool', name: 'structured_answer', disable_parallel_tool_use: true });
    const among = write({ output, tools: [{ type: 'function', name: 'structured_answer' }] }, OLD).body;
    expect((among.tools as JsonObject[]).map((tool) => tool.name)).toEqual(['structured_answer', 'structured_answer_']);
    expect(among.tool_choice).toEqual({ type: 'any' });
  });

  test('without a schema is requested by an instruction, and reported', () => {
    const { body, warnings } = write({ output: { type: 'json' } });
    expect(JSON.stringify(body.system)).toContain('valid JSON');
    expect(warnings).toContain('JSON');
  });
});
