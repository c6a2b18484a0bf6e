/** Recorded replies of three formats through the running gateway, for clients of the same format: the provider's own bytes. */
import { describe, expect, test } from 'bun:test';
import { DEMANDED } from '../../src/dialects/chat/openai-responses/reply-rewriter.ts';
import { textOf } from '../helpers/broken-stream.ts';
import { withoutCost } from '../helpers/cost-comment.ts';
import { type RecordedCase, recordedCases, replyBytes } from '../helpers/fixtures.ts';
import type { CallView } from '../helpers/gateway-process.ts';
import { costOf, nanoCost, type Stage } from '../helpers/scene.ts';
import { useScene } from '../helpers/scene-hooks.ts';
import { sideBySide } from '../helpers/side-by-side.ts';
import { stagePool } from '../helpers/stage-pool.ts';
import type { Chunking } from '../upstream/answer.ts';

interface Wire {
  wire: string;
  /** The row of the providers table. */
  type: string;
  upstreamModel: string;
  ask(stage: Stage, stream: boolean): Promise<Response>;
  /** Where a reply contains its model. */
  name: RegExp;
  /** The usage in a recording, from all its payloads in order. */
  usage(payloads: readonly Payload[]): Tokens;
}

/** Counts by the providers' names; in a stream the last ones apply. */
interface Counts {
  [name: string]: unknown;
}
interface Payload {
  usage?: Counts | null;
  message?: { usage?: Counts };
  response?: { usage?: Counts | null };
  usageMetadata?: Counts;
}
interface Tokens {
  input: number;
  cachedInput: number;
  output: number;
}

function lastOf(reports: readonly (Counts | null | undefined)[]): Counts {
  return Object.assign({}, ...reports);
}

/** The count at a path; 0 if absent. */
function countIn(counts: Counts, path: string): number {
  const found = path.split('.').reduce<unknown>((at, step) => (at as Counts | undefined)?.[step], counts);
  return typeof found === 'number' ? found : 0;
}

/** A hold so large that no recording is disputed: a disputed reply has changed figures. */
const MOST_OUTPUT = 60_000;

const WIRES: readonly Wire[] = [
  {
    wire: 'anthropic-messages',
    type: 'anthropic',
    upstreamModel: 'claude-sonnet-4-5',
    ask: (stage, stream) =>
      post(stage, '/v1/messages', {
        model: stage.model,
        max_tokens: MOST_OUTPUT,
        stream,
        messages: [{ role: 'user', content: 'Hello' }],
      }),
    name: /"model":\s*"[^"]*"/g,
    usage(payloads) {
      const usage = lastOf(payloads.flatMap(({ message, usage }) => [message?.usage, usage]));
      // Compaction and advisor steps are billed but not in the totals; a refusal replaced by another model's answer is not billed.
      const listed = (usage.iterations ?? []) as Counts[];
      const rounds = [usage, ...listed.filter(({ type }) => type === 'compaction' || type === 'advisor_message')];
      const sum = (name: string) => rounds.reduce((total, round) => total + countIn(round, name), 0);
      const cachedInput = sum('cache_read_input_tokens');
      const input = sum('input_tokens') + sum('cache_creation_input_tokens') + cachedInput;
      return { input, cachedInput, output: sum('output_tokens') };
    },
  },
  {
    wire: 'gemini-generatecontent',
    type: 'google',
    upstreamModel: 'gemini-2.5-flash',
    ask: (stage, stream) =>
      post(stage, `/v1beta/models/${stage.model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`, {
        contents: [{ parts: [{ text: 'Hello' }] }],
      }),
    name: /"modelVersion":\s*"[^"]*"/g,
    usage(payloads) {
      const counts = lastOf(payloads.map(({ usageMetadata }) => usageMetadata));
      return {
        input: countIn(counts, 'promptTokenCount') + countIn(counts, 'toolUsePromptTokenCount'),
        cachedInput: countIn(counts, 'cachedContentTokenCount'),
        output: countIn(counts, 'candidatesTokenCount') + countIn(counts, 'thoughtsTokenCount'),
      };
    },
  },
  {
    wire: 'openai-responses',
    type: 'openai',
    upstreamModel: 'gpt-5',
    ask: (stage, stream) => post(stage, '/v1/responses', { model: stage.model, stream, input: 'Hello', store: false }),
    name: /"model":\s*"[^"]*"/g,
    usage(payloads) {
      const counts = lastOf(payloads.flatMap(({ response, usage }) => [response?.usage, usage]));
      return {
        input: countIn(counts, 'input_tokens'),
        cachedInput: countIn(counts, 'input_tokens_details.cached_tokens'),
        output: countIn(counts, 'output_tokens'),
      };
    },
  },
];

/** Recordings that their own libraries could not read: normalized, or reported as the failure they are. */
const NORMALIZED = [
  'amazon-bedrock/rl-providers_bedrock_mantle_responses_chat_streams_through_the_responses_surface.0.sse.txt',
  'anthropic/duplicate-message-start.chunks.txt',
  'github-copilot/github-copilot-id-rotation.1.chunks.txt',
  'google-vertex/fb-vertexai-streaming-failure-empty-content.sse.txt',
  'google-vertex/fb-vertexai-streaming-failure-error-mid-stream.sse.txt',
  'google-vertex/fb-vertexai-streaming-failure-malformed-content.sse.txt',
  'google-vertex/fb-vertexai-streaming-success-unknown-safety-enum.sse.txt',
  'google-vertex/fb-vertexai-unary-failure-invalid-response.json',
  'google-vertex/fb-vertexai-unary-failure-malformed-content.json',
  'google-vertex/fb-vertexai-unary-success-empty-part.json',
  'google/fb-googleai-streaming-success-empty-parts.sse.txt',
  'google/fb-googleai-streaming-success-no-content-parts.sse.txt',
  'google/prism-stream-basic-text-1.sse.txt',
  'openai/openai-apply-patch-tool.1.chunks.txt',
  'openai/prism-stream-multiple-output-items-1.sse.txt',
  'openai/prism-stream-unknown-error-responses-1.sse.txt',
  'own/anthropic-messages/error-stream.sse.txt',
  'own/openai-responses/failed-stream.chunks.txt',
];

const scene = useScene({}, { checksEachTest: false });

function post(stage: Stage, path: string, body: object): Promise<Response> {
  const headers = { authorization: `Bearer ${stage.caller.key}`, 'anthropic-version': '2023-06-01' };
  return fetch(scene.gateway.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
}

function jsonOf(recorded: RecordedCase): Payload[] {
  const text = Buffer.from(replyBytes(recorded)).toString();
  if (!recorded.stream) return [JSON.parse(text) as Payload];
  const lines = text.split(/\r?\n/).filter((line) => /^data: ?\{/.test(line));
  return lines.map((line) => JSON.parse(line.slice(line.indexOf('{'))) as Payload);
}

/** Without recorded usage the delivered output is charged; after a failure, what is known. */
function assertCharge(call: CallView, tokens: Tokens): void {
  if (call.outcome !== 'ok' || tokens.input + tokens.output === 0) return;
  expect(call.usage?.source).toBe('reported');
  expect(nanoCost(call)).toBe(costOf(tokens));
}

describe('recorded replies in their own format', () => {
  for (const { wire, type, upstreamModel, ask, name, usage } of WIRES) {
    const all = recordedCases(wire).filter((recorded) => recorded.status === 200);
    const unnamed = (text: string) => text.replaceAll(name, '').trim();

    const stages = stagePool(() => scene.stage({ type, upstreamModel, maxOutputTokens: MOST_OUTPUT }));

    async function relayed(recorded: RecordedCase, chunking: Chunking): Promise<string> {
      const stage = await stages.take();
      stage.script({ fixture: recorded.file, chunking });
      const response = await ask(stage, recorded.stream);
      const text = await textOf(response);
      const call = await stage.settledCall();
      assertCharge(call, usage(jsonOf(recorded)));
      stages.giveBack(stage, call);
      return withoutCost(text, call);
    }
    test(
      `${wire}: ${all.length} pass byte for byte except the model's name, charged by their usage`,
      () =>
        sideBySide(
          all,
          (recorded) => recorded.file,
          async (recorded) => {
            const wanted = unnamed(Buffer.from(replyBytes(recorded)).toString());
            const text = unnamed(await relayed(recorded, { seed: 1 }));
            const isNormalized = NORMALIZED.includes(recorded.file);
            if (isNormalized && text === wanted)
              throw new Error('it passes as it is: it belongs no longer to the mended');
            if (!isNormalized && withoutAdditions(text, wanted) !== wanted)
              throw new Error(firstDifference(text, wanted));
          },
        ),
      180_000,
    );
  }
});

/** What the gateway may add to a provider's own reply: members that readers require, and the billed usage. */
const ADDED = new Set([
  ...DEMANDED,
  ...['description', 'strict', 'parameters', 'usage', 'usageMetadata'],
  ...['input_tokens', 'output_tokens', 'total_tokens', 'input_tokens_details', 'output_tokens_details'],
  ...['prompt_tokens', 'completion_tokens', 'prompt_tokens_details', 'completion_tokens_details'],
  ...['promptTokenCount', 'candidatesTokenCount', 'totalTokenCount', 'promptTokensDetails', 'candidatesTokensDetails'],
]);

/** The provider's text, if only these members were added; otherwise the text as it is. */
function withoutAdditions(text: string, wanted: string): string {
  if (text === wanted) return text;
  const isStream = /^(event|data):/m.test(wanted);
  const [is, was] = [text, wanted].map((all) => (isStream ? all.split(/\r?\n/) : [all]));
  if (!is || !was || is.length !== was.length) return text;
  const restored = was.map((line, i) => (isMore(jsonIn(is[i] ?? ''), jsonIn(line)) ? line : is[i]));
  return isStream ? (restored.join('\n') === was.join('\n') ? wanted : text) : (restored[0] ?? text);
}

function jsonIn(line: string): unknown {
  try {
    // Removing the model's name leaves a comma.
    return JSON.parse(
      line
        .replace(/^data: ?/, '')
        .replace(/([{,])\s*,/g, '$1')
        .replace(/,(\s*[}\]])/g, '$1'),
    );
  } catch {
    return line;
  }
}

function isMore(is: unknown, was: unknown): boolean {
  if (typeof is !== 'object' || typeof was !== 'object' || !is || !was) return is === was;
  const own = Object.entries(was);
  const added = Object.keys(is).filter((member) => !(member in was));
  if (!added.every((member) => ADDED.has(member))) return false;
  const members = is as { [member: string]: unknown };
  const isNamed = (member: string) => member === 'usage' && members.usage !== null;
  return own.every(([member, value]) => (value === null && isNamed(member)) || isMore(members[member], value));
}

function firstDifference(text: string, wanted: string): string {
  let at = 0;
  while (at < text.length && text[at] === wanted[at]) at++;
  return `at ${at}: ${JSON.stringify(text.slice(Math.max(0, at - 20), at + 80))}, not ${JSON.stringify(wanted.slice(Math.max(0, at - 20), at + 80))}`;
}
