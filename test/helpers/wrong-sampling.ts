/** Sampling members that both of OpenAI's text formats refuse, each with the name that the error gives. */
export const WRONG_SAMPLING: [param: string, members: object][] = [
  ['temperature', { temperature: 2.1 }],
  ['temperature', { temperature: '1' }],
  ['top_p', { top_p: -0.1 }],
  ['n', { n: 0 }],
  ['n', { n: 1.5 }],
  ['presence_penalty', { presence_penalty: 3 }],
  ['frequency_penalty', { frequency_penalty: -2.5 }],
];
