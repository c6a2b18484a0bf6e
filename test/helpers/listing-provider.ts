/** A provider that knows one key, lists two models that have a list price and one that has none, and answers "ready". */
export function startListingProvider() {
  const data = [{ id: 'gpt-5-mini' }, { id: 'gpt-5-nano' }, { id: 'house-model' }];
  const choices = [{ index: 0, message: { role: 'assistant', content: 'ready' }, finish_reason: 'stop' }];
  const usage = { prompt_tokens: 12, completion_tokens: 1, total_tokens: 13 };
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch({ url, headers }) {
      if (headers.get('authorization') !== 'Bearer sk-right') return Response.json({ error: {} }, { status: 401 });
      if (url.endsWith('/models')) return Response.json({ object: 'list', data });
      return Response.json({
        id: 'chat_1',
        object: 'chat.completion',
        created: 1,
        model: 'house-model',
        choices,
        usage,
      });
    },
  });
}
