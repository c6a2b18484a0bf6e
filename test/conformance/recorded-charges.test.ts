/** Every recorded usage: our charge equals the provider's own rule to the nano-USD. */
import { describe, expect, test } from 'bun:test';
import type { Call } from '../../src/canonical/call.ts';
import type { Price } from '../../src/canonical/price.ts';
import { readCatalogue } from '../../src/catalog/catalogue.ts';
import { listedCatalogue } from '../../src/catalog/price-list.ts';
import type { ProviderDialect } from '../../src/dialects/dialect.ts';
import { providerDialectNamed } from '../../src/dialects/index.ts';
import { type Quirks, quirksOf } from '../../src/dialects/shared/quirks.ts';
import { Meter } from '../../src/gateway/settle/meter.ts';
import { charge } from '../../src/ledger/pricing/charge.ts';
import { PROVIDERS } from '../../src/providers/index.ts';
import { chatCall } from '../helpers/chat-call.ts';
import {
  atLeast,
  everyRecording,
  hasFixtures,
  type RecordedCase,
  replyBytes,
  replyContentType,
} from '../helpers/fixtures.ts';
import { openrouterBill, providerBill, reportsUsage, ticksOf } from '../helpers/provider-bills.ts';

/** The dialect of each recorded format with usage. */
const DIALECTS: { readonly [wire: string]: string } = {
  'openai-chat': 'openai-chat',
  'openai-completions': 'openai-completions',
  'openai-responses': 'openai-responses',
  'openai-responses-compact': 'openai-responses-compact',
  'anthropic-messages': 'anthropic-messages',
  'gemini-generatecontent': 'gemini',
  'bedrock-converse': 'bedrock-converse',
  'openai-embeddings': 'openai-embeddings',
  'cohere-embed': 'cohere-embed',
  'gemini-batch-embed': 'gemini-batch-embed',
  'vertex-embeddings': 'vertex-embeddings',
  'cohere-rerank': 'rerank',
  'voyage-rerank': 'voyage-rerank',
  'dashscope-rerank': 'dashscope-rerank',
};

/** Recordings whose figures are not compared, by format or file, with the reason. */
const NOT_COMPARED: { readonly [wireOrFile: string]: string } = {
  'cohere-v2-chat': "Cohere's conversations are had through its door for OpenAI's format: no dialect reads this one",
  'gemini-interactions': 'no dialect reads it',
  'bedrock-embed': "no dialect reads Amazon's own embeddings",
  'openai-images': 'images are compared with the other recordings of images',
  'openai-images-edits': 'images are compared with the other recordings of images',
  'dashscope-images': 'its images are compared by the piece, in its own tests',
  'dashscope-image-tasks': 'its images are compared by the piece, in its own tests',
  'openai-speech': 'audio is charged by what was heard of it, in its own tests',
  'gemini-speech': 'audio is charged by what was heard of it, in its own tests',
  'openai-transcriptions': 'audio is charged by what was heard of it, in its own tests',
  'anthropic-count-tokens': 'tokens that are only counted cost nothing',
  'gemini-count-tokens': 'tokens that are only counted cost nothing',
  'openai-responses-input-tokens': 'tokens that are only counted cost nothing',
  'google-vertex/pai-google-google_model_armor_prompt_template_text_gets_blocked.1.json':
    'its prompt was refused before any model saw it: the usage object has no figure',
};

/** Our provider names where the recordings use others. */
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

function deviationsOf(recorded: RecordedCase): Quirks {
  const { provider, wire } = recorded;
  const row = PROVIDERS.get(OTHER_NAMES[provider] ?? provider);
  if (!row) throw new Error(`there is no provider ${provider}`);
  // The formats of Amazon and Google have only one provider, and no quirks.
  return wire.startsWith('openai') ? quirksOf(row.quirks ?? {}, modelOf(recorded)) : {};
}

/** The model named in the reply. */
function modelOf(recorded: RecordedCase): string {
  return /"model"\s*:\s*"([^"]+)"/.exec(Buffer.from(replyBytes(recorded)).toString('latin1'))?.[1] ?? '';
}

const MEMBERS = { kind: 'chat', model: 'm', stream: false, extras: {}, headers: {} } as const;
const ORIGIN = { dialect: 'a-dialect', body: new Uint8Array() };

/** The call that a reply answers: its reader needs the number of inputs or documents. */
function callOf(recorded: RecordedCase, kind: ProviderDialect['kind']): Call {
  if (kind !== 'embed' && kind !== 'rerank') return chatCall({ stream: recorded.stream });
  const texts = (width: number) => Array.from({ length: width }, (_, place) => `text ${place}`);
  const members = { ...MEMBERS, origin: ORIGIN };
  // A ranking may omit documents.
  if (kind === 'rerank') return { ...members, kind, query: 'a query', documents: texts(10), returnDocuments: false };
  return { ...members, kind, inputs: texts(widthOf(recorded)), encoding: 'float' };
}

function widthOf(recorded: RecordedCase): number {
  const { data, embeddings, predictions } = JSON.parse(Buffer.from(replyBytes(recorded)).toString());
  return (data ?? predictions ?? embeddings.float ?? embeddings).length;
}

/** Reads the reply as the gateway does, up to the billed usage. */
async function usageRead(recorded: RecordedCase, bytes = replyBytes(recorded)) {
  const dialect = providerDialectNamed(DIALECTS[recorded.wire] ?? '');
  if (!dialect) throw new Error(`there is no dialect for ${recorded.wire}`);
  const reader = dialect.reader(callOf(recorded, dialect.kind), replyContentType(recorded), deviationsOf(recorded));
  const meter = new Meter(0);
  for (const frame of [...reader.read(bytes), ...reader.end()]) meter.see(frame.events);
  return meter.final(async (texts) => texts.map(() => 0));
}

describe('charges for recorded replies', () => {
  test('each recording with usage is charged as by its provider, or is exempt with a reason', async () => {
    const differences: string[] = [];
    const excused = new Set<string>();
    let compared = 0;
    for (const recorded of everyRecording.filter(reportsUsage)) {
      const excuse = [recorded.wire, recorded.file].find((name) => name in NOT_COMPARED);
      if (excuse !== undefined) {
        excused.add(excuse);
        continue;
      }
      compared++;
      const expected = providerBill(recorded);
      const usage = await usageRead(recorded);
      const charged = expected && charge(usage, expected.price);
      if (charged !== undefined && charged === expected?.amount && usage.source !== 'counted') continue;
      differences.push(`${recorded.file}: ${charged} instead of ${expected?.amount} ${JSON.stringify(usage)}`);
    }
    expect(differences).toEqual([]);
    if (hasFixtures) expect([...excused].toSorted()).toEqual(Object.keys(NOT_COMPARED).toSorted());
    expect(compared).toBeGreaterThanOrEqual(atLeast(850));
  }, 120_000);

  test('recordings without usage are charged by our count, and no reported usage was missed', async () => {
    for (const recorded of everyRecording.filter((one) => one.status === 200 && !reportsUsage(one))) {
      if (!(recorded.wire in DIALECTS)) continue;
      expect(`${recorded.file}: ${providerBill(recorded)?.amount}`).toBe(`${recorded.file}: undefined`);
      expect(`${recorded.file}: ${(await usageRead(recorded)).source}`).toBe(`${recorded.file}: counted`);
    }
  });

  test.skipIf(!hasFixtures)('our list prices give exactly the costs that xAI reports', async () => {
    const prices = new Map(readCatalogue(listedCatalogue(['xai'])).models.map(({ name, price }) => [name, price]));
    let compared = 0;
    for (const recorded of everyRecording.filter(({ provider, wire }) => provider === 'xai' && wire in DIALECTS)) {
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

  test.skipIf(!hasFixtures)("with OpenRouter's prices our charge equals the cost it reports for tokens", async () => {
    let compared = 0;
    for (const recorded of everyRecording.filter(({ provider }) => provider === 'openrouter')) {
      const bill = openrouterBill(recorded);
      if (!bill) continue;
      compared++;
      expect(`${recorded.file}: ${charge(await usageRead(recorded), bill.price)}`).toBe(
        `${recorded.file}: ${bill.amount}`,
      );
    }
    expect(compared).toBeGreaterThan(35);
  });

  test('an invalid figure is not used in any format', async () => {
    const seen = new Set<string>();
    for (const recorded of everyRecording.filter((one) => one.status === 200 && reportsUsage(one))) {
      const place = `${recorded.wire} ${recorded.stream}`;
      const text = Buffer.from(replyBytes(recorded)).toString();
      if (!(recorded.wire in DIALECTS) || seen.has(place) || replyContentType(recorded).includes('eventstream'))
        continue;
      seen.add(place);
      for (const wrong of ['1e999', '1e308', '-1000', '0.5', '"12"', '{}', 'false']) {
        const altered = text.replaceAll(A_FIGURE, (_, head: string) => `${head}${wrong}`);
        const usage = await usageRead(recorded, Buffer.from(altered));
        const figures = Object.values(usage).filter((value) => typeof value === 'number');
        expect(`${place} ${wrong} ${figures.every((one) => one >= 0 && Number.isFinite(one))}`).toBe(
          `${place} ${wrong} true`,
        );
        expect(charge(usage, DEAR)).toBeLessThan(10n ** 9n);
        expect(`${place} ${wrong} ${usage.source}`).toBe(`${place} ${wrong} counted`);
      }
    }
    expect(seen.size).toBeGreaterThan(14);
  });
});

/** Any usage figure of any format. */
const A_FIGURE =
  /("(?:\w*_tokens|total_tokens|\w*TokenCount|tokenCount|token_count|\w*Tokens|search_units|billableCharacterCount)"\s*:\s*)-?\d+(?=[\s,}])/g;
const DEAR: Price = { input: 10_000_000n, output: 50_000_000n, perCharacter: 10_000n };
