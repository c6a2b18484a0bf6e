/** Accessibility of a page, as axe sees it (WCAG 2.2 AA and its good practices). */
import { source } from 'axe-core';
import type { Page } from 'playwright-core';

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

interface AxeReport {
  violations: { id: string; nodes: { html: string }[] }[];
}

/** The browser's context needs `bypassCSP`: axe is brought in by the test, and the page's own policy would refuse it. */
export async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(source);
  const { violations } = await page.evaluate<AxeReport, string[]>(
    (rules) =>
      (globalThis as unknown as { axe: { run: (options: object) => Promise<AxeReport> } }).axe.run({ runOnly: rules }),
    RULES,
  );
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)}`);
}
