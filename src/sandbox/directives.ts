/** What a prompt may tell the sandbox to suffer: `[[fail 503]]`, `[[delay 2000]]`, `[[cut]]`. */

export interface Directives {
  failStatus?: number;
  delayMs?: number;
  /** The reply breaks off in its middle. */
  cut: boolean;
}

const DIRECTIVE = /\[\[(fail|delay|cut)(?:\s+(\d{1,6}))?\]\]/g;

export function readDirectives(prompt: string): Directives {
  const found: Directives = { cut: false };
  for (const [, word, figure] of prompt.matchAll(DIRECTIVE)) {
    if (word === 'cut') found.cut = true;
    else if (word === 'fail') found.failStatus = Number(figure ?? 500);
    else found.delayMs = Number(figure ?? 1000);
  }
  return found;
}

export function withoutDirectives(prompt: string): string {
  return prompt.replaceAll(DIRECTIVE, '').trim();
}
