/** Chat requests for the models inside the process. */

// biome-ignore lint/suspicious/noExplicitAny: replies are looked into as a client would
export type Body = any;

export const user = (content: unknown) => ({ role: 'user', content });

export const chatBody = (more: object, prompt: unknown = 'Hello there') => ({
  model: 'sandbox-chat',
  messages: [user(prompt)],
  ...more,
});
