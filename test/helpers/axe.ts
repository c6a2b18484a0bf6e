/** Accessibility of a page, as axe sees it (WCAG 2.2 AA and its good practices), and its width. */
import { source } from 'axe-core';
import type { CDPSession, Page } from 'playwright-core';

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

interface AxeReport {
  violations: { id: string; nodes: { html: string }[] }[];
}

/** Those that depend on the theme: everything else is the same in both. */
export const CONTRAST = ['color-contrast'];
/** Those that depend on the width of the window. */
export const NARROW_RULES = ['target-size', 'scrollable-region-focusable', 'region'];

const debuggers = new WeakMap<Page, CDPSession>();

/** Half a megabyte of script, once for each document. As a debugger does: the page's own policy would refuse it from a script. */
async function bringAxe(page: Page): Promise<void> {
  const session = debuggers.get(page) ?? (await page.context().newCDPSession(page));
  debuggers.set(page, session);
  await session.send('Runtime.evaluate', { expression: source });
}

/** All rules, or some by their ids: most of a walk's time is axe. */
export async function violationsOf(page: Page, rules?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate("'axe' in window"))) await bringAxe(page);
  const runOnly = rules === undefined ? { type: 'tag', values: RULES } : { type: 'rule', values: rules };
  const { violations } = await page.evaluate<AxeReport, object>(
    (options) => (globalThis as unknown as { axe: { run: (options: object) => Promise<AxeReport> } }).axe.run(options),
    { runOnly, resultTypes: ['violations'] },
  );
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)}`);
}

/** Nothing has to be scrolled sideways. */
export async function isNotWide(page: Page, path: string): Promise<void> {
  await page.waitForFunction('document.documentElement.scrollWidth <= innerWidth').catch(() => {
    throw new Error(`${path} is wider than the window`);
  });
}
