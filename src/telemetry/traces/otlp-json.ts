/** Writes spans in the JSON encoding of OTLP: identifiers in hexadecimal, 64-bit numbers as strings. */

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
  attributes: AttributeList;
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
  text += `,"flags":${flags},"name":${quoted(span.name)},"kind":${KINDS[kind]}`;
  text += `,"startTimeUnixNano":"${nanoseconds(span.startMs)}","endTimeUnixNano":"${nanoseconds(span.endMs)}"`;
  text += `,"attributes":${span.attributes.written}`;
  if (error !== undefined) text += `,"status":{"code":${STATUS_ERROR},"message":${JSON.stringify(error)}}`;
  return `${text}}`;
}

/** Whole milliseconds are exact; a double cannot hold the nanoseconds since 1970. */
const nanoseconds = (ms: number): string => `${Math.max(0, Math.round(ms))}000000`;

/**
 * Attributes, written as they are added: a list of objects in between took twice as long. Names must need no escaping; what is `undefined`
 * is left out.
 */
export class AttributeList {
  private text = '';

  string(name: string, value: string | undefined): this {
    return value === undefined ? this : this.add(name, 'stringValue', quoted(value));
  }

  integer(name: string, value: number | undefined): this {
    return value === undefined ? this : this.add(name, 'intValue', `"${value}"`);
  }

  /** A number that may have a fraction. */
  number(name: string, value: number | undefined): this {
    return value === undefined ? this : this.add(name, 'doubleValue', Number.isFinite(value) ? String(value) : '0');
  }

  boolean(name: string, value: boolean): this {
    return this.add(name, 'boolValue', value ? 'true' : 'false');
  }

  get written(): string {
    return `[${this.text}]`;
  }

  private add(name: string, type: string, value: string): this {
    this.text += `${this.text === '' ? '' : ','}{"key":"${name}","value":{"${type}":${value}}}`;
    return this;
  }
}

/** Most values are names and identifiers, which need no escaping: to see that takes a fraction of `JSON.stringify`. */
const PLAIN = /^[\w .:/-]*$/;
const quoted = (text: string): string => (PLAIN.test(text) ? `"${text}"` : JSON.stringify(text));

/** An `ExportTraceServiceRequest`. `resource`: the attributes of this service, already written. */
export function writeExport(resource: string, version: string, spans: readonly string[]): string {
  const scope = `{"name":"modelport","version":${JSON.stringify(version)}}`;
  return `{"resourceSpans":[{"resource":{"attributes":${resource}},"scopeSpans":[{"scope":${scope},"spans":[${spans.join(',')}]}]}]}`;
}
