/** The dialect laws, on every recording of this format. */
import { describe, expect, test } from 'bun:test';
import { dialectLaws, replyOf } from '../../../../test/conformance/dialect-laws.ts';
import { chatCall } from '../../../../test/helpers/chat-call.ts';
import { type RecordedCase, recordedCases, replyBytes, replyContentType } from '../../../../test/helpers/fixtures.ts';
import type { ChatCall } from '../../../canonical/call.ts';
import type { Dialect } from '../../dialect.ts';
import { anthropicMessages } from './anthropic-messages.ts';

/** The recordings do not name their version; this one accepts what all of them sent. */
const versioned: Dialect<ChatCall> = {
  ...anthropicMessages,
  readCall: (request) =>
    anthropicMessages.readCall({ ...request, headers: new Headers({ 'anthropic-version': '2023-06-01' }) }),
};

dialectLaws(versioned, chatCall(), { able: 'claude-sonnet-4-5' });

/** Replies recorded with and without streaming: the same request, another run of the model. */
const twins = [
  ...Map.groupBy(recordedCases(anthropicMessages.name), ({ file }) => file.replace(/\.(chunks\.txt|json)$/, '')),
].filter(([name, pair]) => pair.length === 2 && !name.includes('web-search'));

describe.skipIf(twins.length === 0)('a stream and the non-streaming reply to the same request', () => {
  test.each(twins)('have the same structure: %s', (_, [stream, whole]) => {
    expect(stream && buildOf(stream)).toEqual(whole && buildOf(whole));
  });
});

function buildOf(recorded: RecordedCase) {
  const reader = anthropicMessages.reader(chatCall({ stream: recorded.stream }), replyContentType(recorded), {});
  const frames = [...reader.read(replyBytes(recorded)), ...reader.end()];
  const { choices, usage } = replyOf(frames.flatMap((frame) => frame.events));
  return {
    choices: choices.map(({ parts, finish }) => [
      finish,
      ...parts.map(({ opens, content }) => [opens.type, content !== '']),
    ]),
    usage: Object.keys(usage ?? {}).toSorted(),
    source: usage?.source,
  };
}
