/**
 * Directives in a prompt that control the sandbox: `[[fail 503]]`, `[[delay 2000]]`, `[[pace 5]]`, `[[long 500]]`, `[[refuse]]`, `[[cut]]`.
 */

export interface Directives {
  failStatus?: number;
  /** Before the response starts. */
  delayMs?: number;
  /** Before each piece of a stream except the first. */
  paceMs?: number;
  /** The minimum number of words in the answer. */
  words?: number;
  /** The answer is a refusal. */
  refuse: boolean;
  /** The connection breaks in the middle of the response. */
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
