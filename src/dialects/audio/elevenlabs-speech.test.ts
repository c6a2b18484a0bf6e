import { describe, expect, test } from 'bun:test';
import type { SpeechCall } from '../../canonical/call.ts';
import { elevenlabsPath } from './elevenlabs-speech.ts';

const pathOf = (voice: string) => elevenlabsPath({ kind: 'speech', voice, input: 'hi' } as SpeechCall);

describe('the path of a voice', () => {
  test.each([
    ['21m00Tcm4TlvDq8ikWAM', '21m00Tcm4TlvDq8ikWAM'],
    ['a/../b', 'a%2F..%2Fb'],
    ['...', '...'],
    ['声', '%E5%A3%B0'],
  ])('%s is one segment', (voice, segment) => {
    const { pathname } = new URL(`https://x.test/v1${pathOf(voice)}`);
    expect(pathname).toBe(`/v1/text-to-speech/${segment}/stream`);
  });

  test.each(['.', '..', '\ud800', 'a\udc00', ''])('%j is refused', (voice) => {
    expect(() => pathOf(voice)).toThrow(expect.objectContaining({ code: 'invalid_request', param: 'voice' }));
  });
});
