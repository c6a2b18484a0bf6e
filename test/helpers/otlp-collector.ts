/** An OTLP/HTTP endpoint on loopback that refuses what the JSON encoding of OTLP forbids, and remembers the spans. */

export interface CollectedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  traceState?: string;
  flags: number;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { [name: string]: string | number | boolean };
  status?: { code: number; message?: string };
}

export interface Collector {
  readonly url: string;
  readonly spans: CollectedSpan[];
  /** The attributes of the service of the last request. */
  resource: CollectedSpan['attributes'];
  readonly requests: { headers: Headers; body: string }[];
  stop(): Promise<void>;
}

export function startCollector(): Collector {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const body = await request.text();
      try {
        if (request.method !== 'POST' || new URL(request.url).pathname !== '/v1/traces')
          throw new Error('not the path');
        if (request.headers.get('content-type') !== 'application/json') throw new Error('not JSON');
        read(body);
      } catch (thrown) {
        return Response.json({ message: String(thrown) }, { status: 400 });
      }
      collector.requests.push({ headers: request.headers, body });
      return Response.json({});
    },
  });
  const collector: Collector = {
    url: `http://127.0.0.1:${server.port}/v1/traces`,
    spans: [],
    resource: {},
    requests: [],
    stop: () => server.stop(true),
  };

  function read(body: string): void {
    const { resourceSpans, ...others } = JSON.parse(body);
    if (Object.keys(others).length > 0) throw new Error(`unknown: ${Object.keys(others)}`);
    for (const { resource, scopeSpans } of resourceSpans) {
      collector.resource = attributesOf(resource.attributes);
      for (const { scope, spans } of scopeSpans) {
        if (scope.name !== 'modelport') throw new Error('no scope');
        for (const span of spans) collector.spans.push(checked(span));
      }
    }
  }
  return collector;
}

const MEMBERS = new Set([
  ...['traceId', 'spanId', 'parentSpanId', 'traceState', 'flags', 'name', 'kind'],
  ...['startTimeUnixNano', 'endTimeUnixNano', 'attributes', 'status'],
]);

function checked(span: { [member: string]: unknown }): CollectedSpan {
  const unknown = Object.keys(span).filter((member) => !MEMBERS.has(member));
  if (unknown.length > 0) throw new Error(`unknown: ${unknown}`);
  const must = (member: string, form: RegExp) => {
    if (!form.test(String(span[member])) || typeof span[member] !== 'string')
      throw new Error(`${member}: ${span[member]}`);
  };
  must('traceId', /^(?!0{32})[0-9a-f]{32}$/);
  must('spanId', /^(?!0{16})[0-9a-f]{16}$/);
  if (span.parentSpanId !== undefined) must('parentSpanId', /^(?!0{16})[0-9a-f]{16}$/);
  // 64-bit integers are strings.
  must('startTimeUnixNano', /^\d{19}$/);
  must('endTimeUnixNano', /^\d{19}$/);
  if (!Number.isInteger(span.kind) || !Number.isInteger(span.flags)) throw new Error('kind or flags');
  return { ...(span as unknown as CollectedSpan), attributes: attributesOf(span.attributes) };
}

function attributesOf(list: unknown): CollectedSpan['attributes'] {
  const attributes: CollectedSpan['attributes'] = {};
  for (const { key, value } of list as { key: string; value: { [type: string]: string | number | boolean } }[]) {
    const [[type, given] = ['', ''], ...more] = Object.entries(value);
    const isInt = type === 'intValue' && typeof given === 'string' && /^-?\d+$/.test(given);
    const isOther =
      (type === 'stringValue' && typeof given === 'string') ||
      (type === 'doubleValue' && typeof given === 'number') ||
      (type === 'boolValue' && typeof given === 'boolean');
    if (more.length > 0 || key in attributes || !(isInt || isOther))
      throw new Error(`${key}: ${JSON.stringify(value)}`);
    attributes[key] = isInt ? Number(given) : given;
  }
  return attributes;
}
