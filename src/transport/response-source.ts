/** Brings an exchange what comes as a `Response`: from an upstream in this process, or through a proxy. */
import type { ExchangeState } from './exchange.ts';

/** Asks, and reads the answer as far as the exchange takes it. */
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
      // Cancelling what has ended already, or failed, is no news.
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
