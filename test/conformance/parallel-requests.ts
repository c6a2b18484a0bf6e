/** Pairs of the same scenario as other clients wrote it natively for two providers: a translated call must equal the native one. */
import type { ChatCall, Part } from '../../src/canonical/call.ts';
import { type RequestSource, requestSources, writtenFor } from './translate-requests.ts';

export interface Pair {
  scenario: string;
  from: RequestSource;
  to: RequestSource;
}

/** Names of providers in the recordings of a matrix, after the case. */
const CASE = /matrix-(.+?)-(bedrock|anthropic|openai|google|groq|mistral|cohere|huggingface|xai)/;

/** All pairs of recordings of the same turn of a scenario in different formats. */
export function pairs(): Pair[] {
  const recorded = requestSources().filter((source) => source.recorded.parallel_group !== undefined);
  const scenarios = Map.groupBy(recorded, ({ recorded: { file, parallel_group } }) => {
    const turn = /\.(\d+)\.[^/]*$/.exec(file)?.[1] ?? '0';
    return `${parallel_group} ${CASE.exec(file)?.[1] ?? ''} turn ${turn}`;
  });
  return [...scenarios].flatMap(([scenario, all]) =>
    all.flatMap((from) => all.flatMap((to) => (from.dialect.name === to.dialect.name ? [] : [{ scenario, from, to }]))),
  );
}

/** What both request before the model's first answer; later turns depend on each model's output. */
const ASPECTS: { readonly [name: string]: (call: ChatCall) => unknown } = {
  system: ({ messages }) => wordsOf(messages.filter(({ role }) => role === 'system').flatMap(({ parts }) => parts)),
  prompt: ({ messages }) => wordsOf(messages.find(({ role }) => role === 'user')?.parts ?? []),
  media: ({ messages }) => mediaOf(messages.find(({ role }) => role === 'user')?.parts ?? []),
  tools: ({ tools }) =>
    tools
      .flatMap((tool) =>
        'name' in tool
          ? [[tool.name, tool.description ?? '', 'parameters' in tool ? membersOf(tool.parameters) : []]]
          : [],
      )
      .toSorted(),
  choice: ({ toolChoice, tools }) =>
    tools.length > 0 && toolChoice && toolChoice.type !== 'auto' ? toolChoice : 'auto',
  'one call a turn': ({ parallelToolCalls, tools }) => tools.length > 0 && parallelToolCalls === false,
  output: ({ output }) => (output?.type === 'json-schema' ? membersOf(output.schema) : output?.type),
  temperature: ({ sampling }) => sampling.temperature,
  stream: ({ stream }) => stream,
};

/** Differences between the translated call and the native one; `undefined` if it cannot be translated. */
export function differencesOf({ from, to }: Pair): { differences: string[]; warnings: readonly string[] } | undefined {
  const written = writtenFor(from.call, to.dialect);
  if (!written) return undefined;
  const differences = Object.entries(ASPECTS).flatMap(([name, aspect]) => {
    const is = aspect(written.read);
    const wanted = aspect(to.call);
    return Bun.deepEquals(is, wanted) ? [] : [`${name}: ${JSON.stringify(is)} and not ${JSON.stringify(wanted)}`];
  });
  return { differences, warnings: written.warnings };
}

function wordsOf(parts: readonly Part[]): string {
  return parts
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('')
    .replace(/\s/g, '');
}

function mediaOf(parts: readonly Part[]): string[] {
  return parts.flatMap((part) => {
    if (part.type !== 'media') return [];
    const { kind, source } = part.media;
    return [`${kind} ${source.type === 'inline' ? Bun.hash(source.base64) : source.type}`];
  });
}

/** The member names of a schema, and those required. */
function membersOf(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties = {}, required = [] } = schema as { properties?: object; required?: string[] };
  return [Object.keys(properties).toSorted(), [...required].toSorted()];
}
