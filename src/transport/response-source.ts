/** Feeds an exchange from a `Response`, of an upstream in this process or through a proxy. */
import type { ExchangeState } from './exchange.ts';

/** Sends the request and reads the response as fast as the exchange takes it. */
export async function bring(ask: (signal: AbortSignal) => Promise<Response>, exchange: ExchangeState): Promise<void> {
  const controller = new AbortController();
  let reader: { cancel(): Promise<void> } | undefined;
  let resume = () => {};
  let resumed: Promise<void> | undefined;
  exchange.from({
    pause() {
      resumed = new Promise((resolve) => {
        resume = resolve;
      });
    },
    resume: () => resume(),
    stop() {
      resume();
      controller.abort();
      // Cancelling what has ended or failed is harmless.
      reader?.cancel().catch(() => {});
    },
  });
  try {
    const response = await ask(controller.signal);
    exchange.begin(response.status, response.headers);
    const bytes = response.body?.getReader();
    reader = bytes;
    for (let next = await bytes?.read(); next && !next.done && !exchange.failure; next = await bytes?.read()) {
      exchange.push(next.value);
      await resumed;
    }
    exchange.finish();
  } catch (thrown) {
    exchange.broke(thrown);
  }
}
