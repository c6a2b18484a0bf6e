/** Every recorded request with its reply: the call, the provider's reported usage, and the gateway's own count. */
import type { Call } from '../../src/canonical/call.ts';
import { GatewayError } from '../../src/canonical/errors.ts';
import type { Usage } from '../../src/canonical/usage.ts';
import { dialectNamed } from '../../src/dialects/index.ts';
import { Meter } from '../../src/gateway/settle/meter.ts';
import { allTokens } from '../../src/ledger/pricing/quote.ts';
import { estimateTokens } from '../../src/ledger/tokens/estimate-tokens.ts';
import { everyRecording, type RecordedCase, replyBytes, replyContentType, requestBytes } from './fixtures.ts';

export interface RecordedHold {
  file: string;
  call: Call;
  reported: Usage;
  delivered: Usage;
}

const NAMES: { readonly [wire: string]: string } = { 'gemini-generatecontent': 'gemini' };
/** English text has slightly more. */
const CHARACTERS_PER_TOKEN = 4;
const count = async (texts: readonly string[]) => texts.map((text) => Math.ceil(text.length / CHARACTERS_PER_TOKEN));

export async function* recordedHolds(): AsyncGenerator<RecordedHold> {
  for (const recorded of everyRecording.filter(({ status }) => status === 200)) {
    const dialect = dialectNamed(NAMES[recorded.wire] ?? recorded.wire);
    const call = dialect && callOf(recorded, dialect.readCall);
    // Speech is held for by its text; of what was delivered no tokens are counted.
    if (!dialect || !call || call.kind === 'speech') continue;
    const meter = new Meter(allTokens(estimateTokens(call)));
    const reader = dialect.reader(call, replyContentType(recorded), {});
    for (const frame of [...reader.read(replyBytes(recorded)), ...reader.end()]) meter.see(frame.events);
    const reported = await meter.final(count);
    if (reported.source === 'counted') continue;
    yield { file: recorded.file, call, reported, delivered: await meter.delivery(count) };
  }
}

type ReadCall = NonNullable<ReturnType<typeof dialectNamed>>['readCall'];

/** `undefined` if the request was not recorded, or is refused. */
function callOf(recorded: RecordedCase, readCall: ReadCall): Call | undefined {
  const body = requestBytes(recorded);
  if (!body) return undefined;
  const model = /models\/([^:{}]+):/.exec(recorded.endpoint)?.[1] ?? 'a-model';
  const path = { model, action: recorded.stream ? 'streamGenerateContent' : 'generateContent' };
  const headers = new Headers({ 'anthropic-version': '2023-06-01', 'content-type': 'application/json' });
  try {
    return readCall({ body, headers, path, query: new URLSearchParams({ alt: 'sse' }) });
  } catch (thrown) {
    if (thrown instanceof GatewayError) return undefined;
    throw thrown;
  }
}
