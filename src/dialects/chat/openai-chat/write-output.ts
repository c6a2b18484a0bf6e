/** Writes `response_format`, and instructions instead of it for providers without it. */
import type { OutputFormat } from '../../../canonical/call.ts';
import type { JsonObject } from '../../../canonical/json.ts';
import type { Quirks } from '../../shared/quirks.ts';

/** Puts the schema into the prompt if the provider cannot enforce it. */
export function schemaHint(output: OutputFormat, quirks: Quirks, warnings: Set<string>): JsonObject | undefined {
  if (quirks.supportsStructuredOutput === undefined || quirks.supportsStructuredOutput === 'json-schema')
    return undefined;
  if (output.type === 'json') {
    if (quirks.supportsStructuredOutput === 'json') return undefined;
    warnings.add('JSON was requested by an instruction: the provider does not enforce it.');
    return { role: 'system', content: 'Answer with one JSON object and nothing else.' };
  }
  warnings.add('The JSON schema was sent as an instruction: the provider does not enforce it.');
  const schema = JSON.stringify(output.schema);
  return {
    role: 'system',
    content: `Answer with one JSON object that follows this JSON schema, and nothing else: ${schema}`,
  };
}

/** `response_format` as the provider accepts it. */
export function writeOutput(output: OutputFormat | undefined, quirks: Quirks): JsonObject | undefined {
  if (!output || quirks.supportsStructuredOutput === 'none') return undefined;
  if (output.type === 'json') {
    if (quirks.supportsStructuredOutput !== 'json-schema') return { type: 'json_object' };
    return { type: 'json_schema', json_schema: { name: 'response', schema: { type: 'object' } } };
  }
  if (quirks.supportsStructuredOutput === 'json') return { type: 'json_object' };
  const { name, description, schema, strict } = output;
  return {
    type: 'json_schema',
    json_schema: {
      name,
      ...(description !== undefined && { description }),
      schema,
      ...(strict !== undefined && { strict }),
    },
  };
}
