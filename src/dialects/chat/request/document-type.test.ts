import { expect, test } from 'bun:test';
import { chatCall } from '../../../../test/helpers/chat-call.ts';
import type { ChatCall } from '../../../canonical/call.ts';
import { dialectNamed } from '../../index.ts';

const base64 = Buffer.from('# Notes').toString('base64');

/** A file from clients that do not know its type, as a provider of the other format is sent it. */
function sent(filename: string, format: string): string {
  const file = { type: 'input_file', filename, file_data: `data:application/octet-stream;base64,${base64}` };
  const body = new TextEncoder().encode(JSON.stringify({ model: 'm', input: [{ role: 'user', content: [file] }] }));
  const request = { body, headers: new Headers(), path: {}, query: new URLSearchParams() };
  const call = { ...chatCall(), ...dialectNamed('openai-responses')?.readCall(request) } as ChatCall;
  return Buffer.from(dialectNamed(format)?.writeCall(call, 'model', {}).body ?? '').toString();
}

test('if the media type is not specific, the file name decides', () => {
  expect(sent('notes.md', 'anthropic-messages')).toContain('"data":"# Notes"');
  expect(sent('NOTES.TXT', 'anthropic-messages')).toContain('"media_type":"text/plain"');
  expect(sent('notes.md', 'gemini')).toContain('"mimeType":"text/markdown"');
  expect(() => sent('notes.bin', 'anthropic-messages')).toThrow('only as PDF or text');
});
