/** Recordings that break the official library of their own format are normalized by the gateway, so that clients can read them. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type ConsumeClient, startConsumeClient } from '../clients/consume-client.ts';
import { type Source, sources, type Translation, translationsOf } from '../conformance/translate-replies.ts';
import { hasFixtures, replyBytes, replyContentType } from '../helpers/fixtures.ts';

/** Replies that end with an error say so to the client, so there is nothing to normalize. */
function breaksItsLibrary({ recorded: { native_sdk: native = {} }, error }: Source): boolean {
  return error === undefined && Object.values(native).some((outcome) => !outcome.startsWith('ok'));
}

let client: ConsumeClient;
beforeAll(async () => {
  client = await startConsumeClient();
}, 300_000);
afterAll(() => client.stop());

describe.skipIf(!hasFixtures)('a recording that breaks its own library', () => {
  const broken = sources().filter(breaksItsLibrary);

  test.each(broken.map((source) => [source.recorded.file, source] as const))('%s', async (_, source) => {
    const straight = await client.run({
      format: source.dialect.name,
      stream: source.recorded.stream,
      status: 200,
      contentType: replyContentType(source.recorded),
      body: Buffer.from(replyBytes(source.recorded)).toString(),
    });
    const isForgotten = straight.choices?.[0]?.isRemembered === false || straight.choices?.length === 0;
    // Some of the manifest's helpers require more than this client does.
    if (straight.error === undefined && !isForgotten) return;
    const normalized = translationsOf(source).find(({ target }) => target.name === source.dialect.name);
    const seen = await client.run(servedOf(normalized));
    expect(seen.error).toBeUndefined();
    const reason = source.reply.choices[0]?.finish?.reason;
    if (reason === 'stop' || reason === 'tool-calls') expect(seen.choices?.[0]?.isRemembered ?? true).toBe(true);
  });

  test('there are several such recordings', () => {
    expect(broken.length).toBeGreaterThan(15);
  });
});

function servedOf(translation: Translation | undefined) {
  if (!translation) throw new Error('There is no such translation.');
  const { target, stream, status, contentType, body } = translation;
  return { format: target.name, stream, status, contentType, body };
}
