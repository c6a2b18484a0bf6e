/** Traces of calls, exported by OTLP/HTTP: the sink, the queue behind it, and the requests to the endpoint. */
import { Cancellation } from '../../transport/cancellation.ts';
import type { Transport } from '../../transport/transport.ts';
import type { EventSink } from '../events.ts';
import type { MetricFamily } from '../metrics/family.ts';
import { createExporter, type ExportAnswer } from './exporter.ts';
import { AttributeList } from './otlp-json.ts';
import { createSampler, type SamplerName } from './sampler.ts';
import { createTraceSink } from './trace-sink.ts';

export interface TraceSettings {
  /** The endpoint of traces, with its path. */
  url: string;
  headers: { readonly [name: string]: string };
  /** How long one request to it may take. */
  timeoutMs: number;
  /** The attributes of this service. */
  resource: { readonly [name: string]: string };
  sampler: SamplerName;
  /** For the samplers with a ratio. */
  ratio: number;
  /** Calls that take longer are always exported; 0: none is for that. */
  slowMs: number;
}

export interface Tracing {
  readonly sink: EventSink;
  families(): MetricFamily[];
  /** Sends what is queued, for so long at most. */
  drain(boundMs: number): Promise<void>;
}

/** Answers are short: an object, or an error message. */
const LARGEST_ANSWER_BYTES = 64 * 1024;

/** `lost`: spans could not be exported, for the first time since some were. */
export function createTracing(
  settings: TraceSettings,
  transport: Transport,
  { version, instance, lost }: { version: string; instance: string; lost(sentence: string, cause: unknown): void },
): Tracing {
  const resource = new AttributeList();
  const attributes = { ...settings.resource, 'service.version': version, 'service.instance.id': instance };
  for (const [name, value] of Object.entries(attributes)) resource.string(JSON.stringify(name).slice(1, -1), value);
  const exporter = createExporter({
    resource: resource.written,
    version,
    post: (body) => post(settings, transport, body),
    wait(ms, over) {
      const timer = setTimeout(over, ms);
      timer.unref();
      return () => clearTimeout(timer);
    },
    random: Math.random,
    lost,
  });
  const { slowMs } = settings;
  const sampler = createSampler(settings.sampler, settings.ratio);
  return {
    sink: createTraceSink({ sampler, slowMs, export: exporter.add }),
    families: exporter.families,
    drain: exporter.drain,
  };
}

async function post(settings: TraceSettings, transport: Transport, body: string): Promise<ExportAnswer> {
  const { url, timeoutMs: ms } = settings;
  const headers = { ...settings.headers, 'content-type': 'application/json', 'user-agent': 'modelport' };
  const limits = { connectMs: ms, headersMs: ms, firstTokenMs: ms, silenceMs: ms, wholeMs: ms };
  const sending = { method: 'POST', url, headers, body: new TextEncoder().encode(body) };
  const exchange = await transport.send(sending, limits, performance.now() + ms, new Cancellation());
  // The status says whether the spans were taken, whatever is wrong with the text behind it: sent again they would be there twice.
  const reading = (async () => exchange.readAll(LARGEST_ANSWER_BYTES))();
  const bytes = await reading.catch(() => undefined);
  return {
    status: exchange.status,
    header: (name) => exchange.header(name),
    body: new TextDecoder().decode(bytes),
  };
}
