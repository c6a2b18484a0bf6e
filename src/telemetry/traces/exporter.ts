/** Sends written spans to an OTLP/HTTP endpoint in batches, from a bounded queue, one request at a time. */
import { retryAfterMs } from '../../canonical/retry-after.ts';
import { Counter, type MetricFamily } from '../metrics/family.ts';
import { writeExport } from './otlp-json.ts';

export interface ExportAnswer {
  readonly status: number;
  header(name: string): string | undefined;
  readonly body: string;
}

export interface ExporterSettings {
  /** The attributes of this service, already written as JSON. */
  resource: string;
  version: string;
  /** Posts a body to the endpoint. Rejects where no response came. */
  post(body: string): Promise<ExportAnswer>;
  /** Calls `over` after so many milliseconds, unless what it returns is called before. */
  wait(ms: number, over: () => void): () => void;
  /** In [0, 1). */
  random(): number;
  /** Called when spans are lost for the first time since the endpoint took some. */
  lost(sentence: string, cause: unknown): void;
}

export interface Exporter {
  add(span: string): void;
  /** Sends what is queued. Resolves when nothing is left, or after so many milliseconds. */
  drain(boundMs: number): Promise<void>;
  families(): MetricFamily[];
}

/** At about 1 kB a span the queue holds about 8 MB. */
const MOST_QUEUED = 8192;
/** Writing and sending so many at once takes a few milliseconds. */
const MOST_IN_BATCH = 512;
const GATHER_MS = 1000;
/** Pauses of 1, 2, 4 and 8 seconds, of which a random half is left out; then the batch is dropped. */
const MOST_TRIES = 5;
const FIRST_PAUSE_MS = 1000;
/** An endpoint may ask for a longer pause, up to this. */
const LONGEST_PAUSE_MS = 60_000;
/** The statuses that OTLP/HTTP names as temporary. */
const TEMPORARY = new Set([429, 502, 503, 504]);

export function createExporter(settings: ExporterSettings): Exporter {
  const { resource, version, post, wait, random } = settings;
  let queue: string[] = [];
  let exported = 0;
  const dropped = new Counter();
  let sending: Promise<void> | undefined;
  let stopGathering: (() => void) | undefined;
  let endPause: (() => void) | undefined;
  let isDraining = false;
  let isLosing = false;

  function add(span: string): void {
    if (queue.length >= MOST_QUEUED) {
      drop('queue_full', 1, 'The queue of spans is full: the OTLP endpoint is too slow.', undefined);
      return;
    }
    queue.push(span);
    if (sending) return;
    if (queue.length >= MOST_IN_BATCH) send();
    else stopGathering ??= wait(GATHER_MS, send);
  }

  function send(): void {
    stopGathering?.();
    stopGathering = undefined;
    sending ??= sendAll().finally(() => {
      sending = undefined;
      if (queue.length > 0) stopGathering ??= wait(GATHER_MS, send);
    });
  }

  /** What arrives meanwhile waits for a full batch or the end of the pause. */
  async function sendAll(): Promise<void> {
    do {
      const batch = queue.slice(0, MOST_IN_BATCH);
      queue = queue.slice(MOST_IN_BATCH);
      await sendBatch(batch);
    } while (queue.length >= MOST_IN_BATCH || (isDraining && queue.length > 0));
  }

  async function sendBatch(batch: readonly string[]): Promise<void> {
    const body = writeExport(resource, version, batch);
    for (let tries = 1; ; tries++) {
      let answer: ExportAnswer | undefined;
      let cause: unknown;
      try {
        answer = await post(body);
      } catch (thrown) {
        cause = thrown;
      }
      if (answer && answer.status >= 200 && answer.status < 300) {
        accepted(batch.length, rejectedIn(answer.body, batch.length));
        return;
      }
      if (answer && !TEMPORARY.has(answer.status)) {
        drop('refused', batch.length, `The OTLP endpoint refused spans with HTTP ${answer.status}.`, undefined);
        return;
      }
      if (tries === MOST_TRIES || isDraining) {
        drop('failed', batch.length, 'The OTLP endpoint did not take spans.', cause ?? answer?.status);
        return;
      }
      await pause(answer, tries);
    }
  }

  function pause(answer: ExportAnswer | undefined, tries: number): Promise<void> {
    const asked = answer && retryAfterMs((name) => answer.header(name), false);
    const own = FIRST_PAUSE_MS * 2 ** (tries - 1) * (0.5 + random() / 2);
    return new Promise((resolve) => {
      const cancel = wait(Math.min(asked ?? own, LONGEST_PAUSE_MS), () => endPause?.());
      endPause = () => {
        endPause = undefined;
        cancel();
        resolve();
      };
    });
  }

  function accepted(spans: number, rejected: number): void {
    exported += spans - rejected;
    isLosing = false;
    if (rejected > 0) drop('rejected', rejected, 'The OTLP endpoint rejected some spans.', undefined);
  }

  function drop(reason: string, spans: number, sentence: string, cause: unknown): void {
    dropped.add(reason, spans);
    if (isLosing) return;
    isLosing = true;
    settings.lost(sentence, cause);
  }

  return {
    add,
    async drain(boundMs) {
      isDraining = true;
      endPause?.();
      const late = Promise.withResolvers<void>();
      const cancel = wait(boundMs, late.resolve);
      const all = async () => {
        await sending;
        while (queue.length > 0) {
          send();
          await sending;
        }
      };
      await Promise.race([all(), late.promise]);
      cancel();
      stopGathering?.();
    },
    families: () => exportFamilies(exported, dropped, queue.length),
  };
}

export function exportFamilies(exported = 0, dropped = new Counter(), queued = 0): MetricFamily[] {
  const one = (value: number) => [{ labels: [], value }];
  return [
    {
      name: 'modelport_spans_exported_total',
      type: 'counter',
      help: 'Spans that the OTLP endpoint has taken. Only where traces are exported, as the two after it.',
      labels: [],
      samples: one(exported),
    },
    {
      name: 'modelport_spans_dropped_total',
      type: 'counter',
      help: 'Spans that were not exported, by reason (queue_full, refused, rejected, failed).',
      labels: ['reason'],
      samples: dropped.samples(),
    },
    {
      name: 'modelport_span_queue_length',
      type: 'gauge',
      help: 'Spans that wait to be exported.',
      labels: [],
      samples: one(queued),
    },
  ];
}

/** Spans of the batch that the endpoint did not keep (`partialSuccess`): whatever it says, a number of them. */
function rejectedIn(body: string, spans: number): number {
  try {
    const { partialSuccess } = JSON.parse(body) as { partialSuccess?: { rejectedSpans?: string | number } };
    const rejected = Math.trunc(Number(partialSuccess?.rejectedSpans ?? 0)) || 0;
    return Math.min(Math.max(rejected, 0), spans);
  } catch {
    return 0;
  }
}
