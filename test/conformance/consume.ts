/** Passes translations to the official library of their format and returns what is wrong in what its user sees. */
import { type ConsumeClient, type ServedView, startConsumeClient } from '../clients/consume-client.ts';
import { contentIn, FORMAT_TRAITS, type FormatTraits } from './meaning.ts';
import { isFailure, type Translation } from './translate-replies.ts';

/** Maps a library's word for the end to a common one. */
const ENDS: { readonly [word: string]: string } = {
  stop: 'end',
  end_turn: 'end',
  stop_sequence: 'end',
  pause_turn: 'end',
  tool_calls: 'end',
  function_call: 'end',
  tool_use: 'end',
  STOP: 'end',
  OTHER: 'end',
  completed: 'end',
  in_progress: 'end',
  queued: 'end',
  incomplete: 'length',
  length: 'length',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  MAX_TOKENS: 'length',
  CONTINUATION: 'length',
  max_output_tokens: 'length',
  content_filter: 'filter',
  refusal: 'filter',
};
const FILTER_WORD = /SAFETY|RECITATION|LANGUAGE|BLOCKLIST|PROHIBITED|SPII/;

const CHILDREN = 2;
const AT_A_TIME = 24;

/** The faults of each translation, in the same order. */
export async function consumeAll(translations: readonly Translation[]): Promise<string[][]> {
  const children = await Promise.all(Array.from({ length: CHILDREN }, startConsumeClient));
  const faults: string[][] = translations.map(() => []);
  let next = 0;
  const worker = async (child: ConsumeClient) => {
    for (let at = next++; at < translations.length; at = next++) {
      const translation = translations[at];
      if (translation) faults[at] = await consume(child, translation);
    }
  };
  await Promise.all(children.flatMap((child) => Array.from({ length: AT_A_TIME }, () => worker(child))));
  for (const child of children) child.stop();
  return faults;
}

async function consume(child: ConsumeClient, translation: Translation): Promise<string[]> {
  const { target, stream, status, contentType, body } = translation;
  const view = await child.run({ format: target.name, stream, status, contentType, body });
  const { source } = translation;
  if (!source.error && !isFailure(source, target)) {
    const manner = FORMAT_TRAITS[target.name];
    return manner ? faultsSeen(view, translation, manner) : [];
  }
  if (!view.error) return ['the library takes an incomplete reply for a complete one'];
  return status >= 400 && view.error.status !== status ? [`the library sees status ${view.error.status}`] : [];
}

function faultsSeen(view: ServedView, { source, target }: Translation, manner: FormatTraits): string[] {
  if (view.error) return [`the library fails: ${view.error.class}: ${view.error.message}`];
  const faults: string[] = [];
  const { choices } = contentIn(source.reply, manner);
  for (const [index, meant] of choices.entries()) {
    const seen = view.choices?.[index];
    if (!seen) {
      // A blocked prompt has no candidates, as its provider sends it.
      if (target.name !== source.dialect.name) faults.push(`the library sees no choice ${index}`);
      continue;
    }
    const calls = meant.calls.map(({ name, input }) => [name, input]);
    // In its own format an image stays where its provider put it.
    const isText = target.name !== source.dialect.name || !manner.asText.includes('image');
    if (isText && seen.text !== meant.text)
      faults.push(`the library sees the text ${JSON.stringify(seen.text.slice(0, 200))}`);
    const areWhole = meant.finish !== 'length' && target.name !== source.dialect.name;
    if (areWhole && seen.calls && !Bun.deepEquals(seen.calls, calls))
      faults.push(`the library sees the calls ${JSON.stringify(seen.calls)}`);
    const isReasoning = seen.reasoning !== undefined && target.name !== source.dialect.name;
    if (isReasoning && seen.reasoning !== meant.reasoning) faults.push('the library sees another reasoning');
    const meantEnd = meant.finish === 'length' ? 'length' : isFiltered(meant.finish) ? 'filter' : 'end';
    if (seen.isRemembered === false && isRegular(meant.finish)) faults.push('the library forgets the turn');
    const end = endOf(seen.finish ?? '');
    if (end !== meantEnd) faults.push(`the library sees the end ${seen.finish}, meant as ${meant.finish}`);
  }
  return faults;
}

function isRegular(reason: string): boolean {
  return reason === 'stop' || reason === 'tool-calls';
}

function isFiltered(reason: string): boolean {
  return reason === 'content-filter' || reason === 'refusal';
}

function endOf(word: string): string {
  return ENDS[word] ?? (FILTER_WORD.test(word) ? 'filter' : 'end');
}
