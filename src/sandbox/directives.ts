/** What a prompt may tell the sandbox to do: `[[fail 503]]`, `[[delay 2000]]`, `[[pace 5]]`, `[[long 500]]`, `[[refuse]]`, `[[cut]]`. */

export interface Directives {
  failStatus?: number;
  /** Before the answer begins. */
  delayMs?: number;
  /** Before each piece of a stream but the first. */
  paceMs?: number;
  /** Words the answer has at least. */
  words?: number;
  /** The answer is a refusal. */
  refuse: boolean;
  /** The reply breaks off in its middle. */
  cut: boolean;
}

const DIRECTIVE = /\[\[(fail|delay|pace|long|refuse|cut)(?:\s+(\d{1,6}))?\]\]/g;

export function readDirectives(prompt: string): Directives {
  const found: Directives = { cut: false, refuse: false };
  for (const [, word, figure] of prompt.matchAll(DIRECTIVE)) {
    switch (word) {
      case 'cut':
      case 'refuse':
        found[word] = true;
        break;
      case 'fail':
        found.failStatus = Number(figure ?? 500);
        break;
      case 'delay':
        found.delayMs = Number(figure ?? 1000);
        break;
      case 'pace':
        found.paceMs = Number(figure ?? 100);
        break;
      default:
        found.words = Number(figure ?? 200);
    }
  }
  return found;
}

export function withoutDirectives(prompt: string): string {
  return prompt.replaceAll(DIRECTIVE, '').trim();
}
