/**
 * Recordings of other clients that implement the same scenario for many providers: a translated request must equal what they sent to that
 * provider.
 */
import { describe, expect, test } from 'bun:test';
import { hasFixtures } from '../helpers/fixtures.ts';
import { differencesOf, pairs } from './parallel-requests.ts';

/** Scenarios in which those clients intentionally differ between providers, with the reason. */
const ASKED_OTHERWISE: readonly (readonly [scenario: RegExp, aspects: readonly string[], why: string])[] = [
  [/replaces_previous_system_messages/, ['temperature'], 'reasoning models get none'],
  [/preserves_strings_returned_from_tools/, ['tools'], 'recorded before and after the tool was described anew'],
  [/reports_consistent_token_counts/, ['stream'], 'the stream comes first or last'],
  [/tool_choice_matrix-none/, ['tools', 'choice'], 'without a choice the client leaves the tools out or forbids them'],
  [/tool_choice_matrix-list_single/, ['tools', 'choice'], 'the one tool is named, or is the only one there'],
  [/respects_choice_required/, ['choice'], 'the only tool is named, or any is required'],
  [/test_ref_sibling_wire_contract/, ['tools'], 'two tests in one group'],
  [/test_tool_availability_portability/, ['tools', 'choice', 'prompt', 'system'], 'several tests in one group'],
  [/returns_structured_output/, ['prompt'], 'two tests in one group'],
];

describe.skipIf(!hasFixtures)('scenarios recorded on several providers', () => {
  const all = pairs();
  const byScenario = [...Map.groupBy(all, ({ scenario }) => scenario)];

  test.each(byScenario)('%s', (scenario, couples) => {
    const excused = ASKED_OTHERWISE.filter(([name]) => name.test(scenario)).flatMap(([, aspects]) => aspects);
    const wrong = couples.flatMap((couple) => {
      const found = differencesOf(couple)?.differences ?? [];
      const meant = found.filter((difference) => !excused.some((aspect) => difference.startsWith(`${aspect}:`)));
      return meant.map(
        (difference) => `${couple.from.recorded.file} for ${couple.to.recorded.provider}: ${difference}`,
      );
    });
    expect(wrong).toEqual([]);
  });

  test('are many, and nearly all can be translated', () => {
    expect(all.length).toBeGreaterThan(800);
    expect(byScenario.length).toBeGreaterThan(40);
    expect(all.filter((couple) => differencesOf(couple) === undefined).length).toBeLessThan(10);
  });
});
