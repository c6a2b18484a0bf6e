/** No silent loss: every member of every format's request reaches a provider of any other format, or is named in a warning or an error. */
import { describe, expect, test } from 'bun:test';
import { GatewayError } from '../../src/canonical/errors.ts';
import type { JsonObject } from '../../src/canonical/json.ts';
import { dialectNamed } from '../../src/dialects/index.ts';
import { testDeclaredMembers } from '../conformance/members/declared.ts';
import { GEMINI_REQUESTS } from '../conformance/members/gemini-requests.ts';
import { type Group, isReportable } from '../conformance/members/group.ts';
import { MESSAGES_REQUESTS } from '../conformance/members/messages-requests.ts';
import { CHAT_REQUESTS, COMPLETIONS_REQUESTS } from '../conformance/members/openai-requests.ts';
import { RESPONSES_REQUESTS } from '../conformance/members/responses-requests.ts';
import { TARGETS } from '../conformance/translate-replies.ts';

const GROUPS: readonly Group[] = [
  ...CHAT_REQUESTS,
  ...COMPLETIONS_REQUESTS,
  ...MESSAGES_REQUESTS,
  ...GEMINI_REQUESTS,
  ...RESPONSES_REQUESTS,
];

const MODELS: { readonly [dialect: string]: string } = {
  'anthropic-messages': 'claude-opus-4-5',
  gemini: 'gemini-3.8-flash',
  'openai-responses': 'gpt-6-sol',
};

testDeclaredMembers(GROUPS);

describe('a member arrives or is reported', () => {
  for (const group of GROUPS) {
    const reportable = Object.entries(group.members).filter(([, specimen]) => isReportable(specimen));
    for (const target of TARGETS.filter(({ name }) => name !== group.dialect)) {
      test.each(reportable)(`${group.dialect} ${group.declared ?? ''} for ${target.name}: %s`, (member, specimen) => {
        const without = sent(group, {}, target.name);
        const withIt = sent(group, { [member.trim()]: specimen as JsonObject }, target.name);
        const arrived = !Bun.deepEquals(withIt.body, without.body);
        // Choices are requested one by one, and a stream has its own URL; what contains the member was reported as a whole.
        if (dialectNamed(target.name)?.singleChoice && (member === 'n' || member === 'candidateCount')) return;
        if (target.name === 'gemini' && member === 'stream') return;
        if (without.warnings.some((warning) => WHOLE.test(warning))) return;
        const reported = withIt.refused || withIt.warnings.some((warning) => !without.warnings.includes(warning));
        expect({ arrived, reported, isReported: arrived || reported }).toMatchObject({ isReported: true });
      });
    }
  }
});

const WHOLE =
  /`tools` were dropped|setting was dropped|output format was dropped|was dropped: the model reads text|`logprobs` was dropped|`modalities` were dropped/;

interface Sent {
  body: unknown;
  warnings: string[];
  refused: boolean;
}

function sent(group: Group, members: JsonObject, target: string): Sent {
  const source = dialectNamed(group.dialect);
  const writer = dialectNamed(target);
  if (!source || !writer) throw new Error('There is no such dialect.');
  const body = Buffer.from(JSON.stringify(group.body(members)));
  const headers = new Headers({ 'anthropic-version': '2023-06-01' });
  const path = { model: 'm', action: 'generateContent' };
  try {
    const call = source.readCall({ body, headers, path, query: new URLSearchParams() });
    const written = writer.writeCall(call, MODELS[target] ?? 'gpt-4.1', {});
    const { model: _, ...asked } = JSON.parse(Buffer.from(written.body).toString()) as JsonObject;
    return { body: asked, warnings: [...(call.origin.dropped ?? []), ...written.warnings], refused: false };
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || thrown.param === undefined) throw thrown;
    return { body: undefined, warnings: [], refused: true };
  }
}
