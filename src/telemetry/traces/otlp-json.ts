/** Writes spans in the JSON encoding of OTLP: identifiers in hexadecimal, 64-bit numbers as strings. */

export type AttributeValue = string | number | boolean | undefined;

export interface Span {
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  state: string;
  isSampled: boolean;
  name: string;
  kind: 'server' | 'client';
  /** Milliseconds since 1970. */
  startMs: number;
  endMs: number;
  /** Absent: the status is not set. */
  error: string | undefined;
  attributes: { readonly [name: string]: AttributeValue };
}

const KINDS = { server: 2, client: 3 } as const;
const STATUS_ERROR = 2;
/** The identifier of the caller's span came with a request from elsewhere. */
const HAS_IS_REMOTE = 0x100;
const IS_REMOTE = 0x200;

/** As text: a span is written once, when its call ends, so that nothing of the call stays in memory until it is sent. */
export function writeSpan(span: Span): string {
  const { traceId, spanId, parentSpanId, state, kind, error } = span;
  const isRemote = kind === 'server' && parentSpanId !== undefined;
  const flags = (span.isSampled ? 1 : 0) | HAS_IS_REMOTE | (isRemote ? IS_REMOTE : 0);
  let text = `{"traceId":"${traceId}","spanId":"${spanId}"`;
  if (parentSpanId !== undefined) text += `,"parentSpanId":"${parentSpanId}"`;
  if (state !== '') text += `,"traceState":${JSON.stringify(state)}`;
  text += `,"flags":${flags},"name":${JSON.stringify(span.name)},"kind":${KINDS[kind]}`;
  text += `,"startTimeUnixNano":"${nanoseconds(span.startMs)}","endTimeUnixNano":"${nanoseconds(span.endMs)}"`;
  text += `,"attributes":${writeAttributes(span.attributes)}`;
  if (error !== undefined) text += `,"status":{"code":${STATUS_ERROR},"message":${JSON.stringify(error)}}`;
  return `${text}}`;
}

/** Whole milliseconds are exact; a double cannot hold the nanoseconds since 1970. */
const nanoseconds = (ms: number): string => `${Math.max(0, Math.round(ms))}000000`;

export function writeAttributes(attributes: Span['attributes']): string {
  let text = '';
  for (const name in attributes) {
    const value = attributes[name];
    if (value !== undefined)
      text += `${text === '' ? '' : ','}{"key":${JSON.stringify(name)},"value":${valueText(value)}}`;
  }
  return `[${text}]`;
}

function valueText(value: string | number | boolean): string {
  if (typeof value === 'string') return `{"stringValue":${JSON.stringify(value)}}`;
  if (typeof value === 'boolean') return `{"boolValue":${value}}`;
  return Number.isSafeInteger(value)
    ? `{"intValue":"${value}"}`
    : `{"doubleValue":${Number.isFinite(value) ? value : 0}}`;
}

/** An `ExportTraceServiceRequest`. `resource`: the attributes of this service, already written. */
export function writeExport(resource: string, version: string, spans: readonly string[]): string {
  const scope = `{"name":"modelport","version":${JSON.stringify(version)}}`;
  return `{"resourceSpans":[{"resource":{"attributes":${resource}},"scopeSpans":[{"scope":${scope},"spans":[${spans.join(',')}]}]}]}`;
}
