/** Every usage object that was recorded: what we charge is what the vendor's own rule says, to the nano-USD. */
import { describe, expect, test } from 'bun:test';
import { readCatalogue } from '../../src/catalog/catalogue.ts';
import { listedCatalogue } from '../../src/catalog/price-list.ts';
import type { Quirks } from '../../src/dialects/dialect.ts';
import { vendorDialectNamed } from '../../src/dialects/index.ts';
import { Meter } from '../../src/gateway/meter.ts';
import { charge } from '../../src/ledger/charge.ts';
import { PROVIDERS } from '../../src/providers/index.ts';
import { chatCall } from '../chat-call.ts';
import { hasFixtures, type RecordedCase, recordedCases, replyBytes, replyContentType } from '../fixtures.ts';
import { RATES, ticksOf, vendorBill } from '../vendor-bills.ts';

/** The dialect of each recorded format. */
const DIALECTS: { readonly [wire: string]: string } = {
  'openai-chat': 'openai-chat',
  'openai-completions': 'openai-completions',
  'openai-responses': 'openai-responses',
  'anthropic-messages': 'anthropic-messages',
  'gemini-generatecontent': 'gemini',
  'bedrock-converse': 'bedrock-converse',
};

/** Our names of providers that the recordings name otherwise. */
const OTHER_NAMES: { readonly [provider: string]: string } = {
  'google-openai-compat': 'openai-compatible',
  'anthropic-openai-compat': 'openai-compatible',
  gpustack: 'openai-compatible',
  'github-copilot': 'openai-compatible',
  'google-vertex': 'vertex',
  'amazon-bedrock': 'bedrock',
  alibaba: 'dashscope',
  moonshotai: 'moonshot',
  lmstudio: 'lm-studio',
};

function quirksOf({ provider, wire }: RecordedCase): Quirks {
  const row = PROVIDERS.get(OTHER_NAMES[provider] ?? provider);
  if (!row) throw new Error(`there is no provider ${provider}`);
  // Amazon's own format and Google's have no quirks of a copy of another.
  return wire.startsWith('openai') ? (row.quirks ?? {}) : {};
}

/** Reads the reply as the gateway does, up to the usage it would charge by. */
async function usageRead(recorded: RecordedCase) {
  const dialect = vendorDialectNamed(DIALECTS[recorded.wire] ?? '');
  if (!dialect) throw new Error(`there is no dialect for ${recorded.wire}`);
  const call = chatCall({ stream: recorded.stream });
  const reader = dialect.reader(call, replyContentType(recorded), quirksOf(recorded));
  const meter = new Meter(0);
  for (const frame of [...reader.read(replyBytes(recorded)), ...reader.end()]) meter.see(frame.events);
  return meter.final(async (texts) => texts.map(() => 0));
}

const ANSWERED = Object.keys(DIALECTS).flatMap((wire) => recordedCases(wire).filter(({ status }) => status === 200));

describe.skipIf(!hasFixtures)('what is charged for the recordings', () => {
  test('each that reported usage is charged as its vendor would', async () => {
    const differences: string[] = [];
    let compared = 0;
    for (const recorded of ANSWERED) {
      const expected = vendorBill(recorded);
      const usage = await usageRead(recorded);
      if (expected === undefined || usage.source !== 'reported') continue;
      compared++;
      const charged = charge(usage, RATES);
      if (charged !== expected)
        differences.push(`${recorded.file}: ${charged} instead of ${expected} ${JSON.stringify(usage)}`);
    }
    expect(differences).toEqual([]);
    expect(compared).toBeGreaterThan(800);
  }, 120_000);

  test("xAI's own bills: our list prices charge the very ticks it says it has taken", async () => {
    const prices = new Map(readCatalogue(listedCatalogue(['xai'])).models.map(({ name, price }) => [name, price]));
    let compared = 0;
    for (const recorded of ANSWERED.filter(({ provider }) => provider === 'xai')) {
      const bill = ticksOf(recorded);
      const price = bill && prices.get(bill.model);
      if (!bill || !price || bill.usesTools) continue;
      compared++;
      // A tick is a tenth of a nano-USD.
      const billed = (bill.ticks + 9n) / 10n;
      expect(`${recorded.file}: ${charge(await usageRead(recorded), price)}`).toBe(`${recorded.file}: ${billed}`);
    }
    expect(compared).toBeGreaterThan(10);
  });
});
