import { expect, test } from 'bun:test';
import { dialectLaws } from '../../../../test/conformance/dialect-laws.ts';
import { chatCall } from '../../../../test/helpers/chat-call.ts';
import { type RecordedCase, recordedCases, requestBytes } from '../../../../test/helpers/fixtures.ts';
import { gemini } from './gemini.ts';

const WIRE = 'gemini-generatecontent';

/** Files that are stored at the provider are not accepted. */
function refersToFile(recorded: RecordedCase): boolean {
  const body = requestBytes(recorded);
  return body !== undefined && /"file_?[dD]ata"/.test(new TextDecoder().decode(body));
}

function pathOf({ endpoint, stream }: RecordedCase) {
  const model = /models\/([^:{}]+):/.exec(endpoint)?.[1] ?? 'gemini-2.5-flash';
  return { model, action: stream ? 'streamGenerateContent' : 'generateContent' };
}

dialectLaws(gemini, chatCall(), { wire: WIRE, path: pathOf, refuses: refersToFile, able: 'gemini-2.5-flash' });

const referring = recordedCases(WIRE).filter(refersToFile);

test.each(referring.map((recorded) => [recorded.file, recorded] as const))(
  'a file reference is refused: %s',
  (_, recorded) => {
    const body = requestBytes(recorded) ?? new Uint8Array();
    const request = { body, headers: new Headers(), path: pathOf(recorded), query: new URLSearchParams() };
    expect(() => gemini.readCall(request)).toThrow(expect.objectContaining({ code: 'file_reference_unsupported' }));
  },
);
