import { describe, expect, test } from 'bun:test';
import { CONVERSING } from '../../../../test/conformance/translate-replies.ts';
import { chatCall } from '../../../../test/helpers/chat-call.ts';
import type { ReplyEvent } from '../../../canonical/reply.ts';

const at = { choice: 0, part: 0 };
const NO_BYTES = new Uint8Array(0);
const text = (...events: ReplyEvent[]): ReplyEvent[] => [
  { type: 'part-start', ...at, opens: { type: 'text' } },
  { type: 'part-delta', ...at, delta: 'So it is.' },
  ...events,
  { type: 'part-end', ...at },
];
const ended = (finish: Extract<ReplyEvent, { type: 'choice-end' }>['finish'] = { reason: 'stop' }): ReplyEvent => ({
  type: 'choice-end',
  choice: 0,
  finish,
});
const part = (opens: Extract<ReplyEvent, { type: 'part-start' }>['opens'], delta: string): ReplyEvent[] => [
  { type: 'part-start', ...at, opens },
  { type: 'part-delta', ...at, delta },
  { type: 'part-end', ...at },
  ended(),
];

interface Loss {
  events: ReplyEvent[];
  /** The formats that can express it anyway. */
  say: readonly string[];
  named: string;
}

const LOSSES: { readonly [what: string]: Loss } = {
  'a block of another provider': {
    events: [
      { type: 'part-start', ...at, opens: { type: 'native', dialect: 'some', item: { type: 'search_result' } } },
      { type: 'part-end', ...at },
      ended(),
    ],
    say: [],
    named: '`search_result` of some',
  },
  'what only one format can express': {
    events: [{ type: 'aside', dialect: 'gemini', members: { safetyRatings: [{}] } }, ...text(), ended()],
    say: [],
    named: '`safetyRatings` of gemini',
  },
  'log probabilities': {
    events: [...text({ type: 'part-logprobs', ...at, logprobs: [{ token: 'So', logprob: -1 }] }), ended()],
    say: ['openai-chat', 'openai-completions', 'openai-responses', 'gemini'],
    named: '`logprobs`',
  },
  'a citation without an address': {
    events: [...text({ type: 'part-citation', ...at, citation: { title: 'A book' } }), ended()],
    say: [],
    named: 'A citation',
  },
  'the stop sequence': {
    events: [...text(), ended({ reason: 'stop-sequence', stopSequence: 'END' })],
    say: ['openai-chat', 'openai-completions', 'anthropic-messages'],
    named: 'stop sequence',
  },
  audio: {
    events: part({ type: 'audio', id: 'audio_1' }, 'AAAA'),
    say: ['openai-chat', 'gemini'],
    named: 'audio',
  },
  thinking: {
    events: part({ type: 'reasoning' }, 'Hm.'),
    say: ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini'],
    named: 'reasoning',
  },
  'a second choice': {
    events: [...text(), ended(), { type: 'part-start', choice: 1, part: 0, opens: { type: 'text' } }],
    say: ['openai-chat', 'openai-completions', 'gemini'],
    named: 'choice',
  },
  fingerprint: {
    events: [{ type: 'reply-start', id: '1', model: 'm', extras: { system_fingerprint: 'fp_1' } }, ...text(), ended()],
    say: ['openai-chat'],
    named: '`system_fingerprint`',
  },
};

describe('what a reply loses in another format is reported', () => {
  for (const dialect of CONVERSING) {
    test.each(Object.entries(LOSSES))(`${dialect.name}: %s`, (_, { events, say, named }) => {
      for (const stream of [true, false]) {
        const writer = dialect.writer(chatCall({ stream, wantsUsage: true }));
        const written = [writer.write({ bytes: NO_BYTES, events: [...events, { type: 'reply-end' }] }), writer.end()];
        if (say.includes(dialect.name)) expect(writer.warnings).toEqual([]);
        else expect(writer.warnings.join(' ')).toContain(named);
        const body = Buffer.concat(written).toString();
        const comments = body.split('\n').filter((line) => line.startsWith(':'));
        const takesComments = stream && dialect.name !== 'gemini';
        expect(comments.length).toBe(takesComments && writer.warnings.length > 0 ? 1 : 0);
      }
    });
  }
});
