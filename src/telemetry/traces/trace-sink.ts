/** The sink that writes a span for each call and one for each of its attempts. */
import type { Usage } from '../../canonical/usage.ts';
import type { AttemptRecord } from '../../routing/tracked-attempt.ts';
import type { CallRow } from '../../store/rows.ts';
import type { CallTrace, EventSink } from '../events.ts';
import { CallSpan } from './call-span.ts';
import { ATTRIBUTES, operationOf, providerNameOf } from './names.ts';
import { AttributeList, type Span, writeSpan } from './otlp-json.ts';
import type { Sampler } from './sampler.ts';

export interface TraceSinkSettings {
  sampler: Sampler;
  /** A call that takes longer is exported although it was not sampled; 0: none is. */
  slowMs: number;
  export(span: string): void;
}

export function createTraceSink({ sampler, slowMs, export: exportSpan }: TraceSinkSettings): EventSink {
  function isKept(span: CallSpan, hasFailed: boolean, durationMs: number): boolean {
    if (span.isSampled) return true;
    return sampler.keepsErrors && (hasFailed || (slowMs > 0 && durationMs >= slowMs));
  }

  function ended(call: CallTrace, record: CallRow): void {
    const { span } = call;
    if (!span || !isKept(span, hasFailed(call, record), record.durationMs)) return;
    exportSpan(writeSpan(callSpan(call, record, span)));
    for (const attempt of call.attempts) exportSpan(writeSpan(attemptSpan(call, attempt, span)));
  }

  return {
    admitted(call) {
      call.span = new CallSpan(call.headers, sampler);
    },
    refused(call) {
      const span = new CallSpan(call.headers, sampler);
      const { error } = call;
      const durationMs = performance.now() - call.startedMs;
      // What the client did wrong is sampled like other calls: a flood of such calls must not become a flood of spans.
      if (!isKept(span, (error?.status ?? 500) >= 500, durationMs)) return;
      exportSpan(writeSpan(refusedSpan(call, span, durationMs)));
    },
    ended,
    taskAttempted(task) {
      task.span = new CallSpan(task.headers, sampler, task.id);
    },
    taskEnded(task, record) {
      task.span = new CallSpan(task.headers, sampler, task.id);
      ended(task, record);
    },
  };
}

/** Also where another target answered: the failure is what a trace is looked at for. */
function hasFailed({ attempts }: CallTrace, { outcome }: CallRow): boolean {
  if (outcome !== 'ok' && outcome !== 'aborted' && outcome !== 'refused') return true;
  return attempts.some((attempt) => attempt.outcome === 'failed' && outcome === 'ok');
}

function callSpan(call: CallTrace, record: CallRow, span: CallSpan): Span {
  const { error } = call;
  const { outcome } = record;
  const isError = outcome === 'failed' || outcome === 'broken';
  return {
    ...inTrace(span),
    spanId: span.spanId,
    parentSpanId: span.parentSpanId,
    name: `${operationOf(call.dialect)} ${record.model}`,
    kind: 'server',
    startMs: call.at,
    endMs: call.at + record.durationMs,
    error: isError ? (error?.message ?? outcome) : undefined,
    attributes: callAttributes(call, record),
  };
}

function callAttributes(call: CallTrace, record: CallRow): AttributeList {
  const { firstByteMs, stream } = record;
  const list = withUsage(commonAttributes(call), record.usage)
    .string(ATTRIBUTES.provider, providerOf(call.attempts.at(-1), record.provider))
    .string(ATTRIBUTES.requestModel, record.model)
    .string(ATTRIBUTES.responseModel, record.targetModel || undefined)
    .number(ATTRIBUTES.cost, Number(record.cost) / 1e9)
    .string(ATTRIBUTES.errorType, record.errorCode)
    .integer(ATTRIBUTES.status, record.status)
    .boolean(ATTRIBUTES.isStream, stream)
    .string(ATTRIBUTES.outcome, record.outcome)
    .string(ATTRIBUTES.providerEntry, record.provider || undefined)
    .integer(ATTRIBUTES.attempts, record.attempts);
  if (!stream || firstByteMs === undefined) return list;
  return list
    .number(ATTRIBUTES.firstChunk, firstByteMs / 1000)
    .string(ATTRIBUTES.langfuseStart, new Date(call.at + firstByteMs).toISOString());
}

/** What the span of every call has, also of one that was not admitted. */
function commonAttributes(call: CallTrace): AttributeList {
  return new AttributeList()
    .string(ATTRIBUTES.operation, operationOf(call.dialect))
    .string(ATTRIBUTES.requestId, call.id)
    .string(ATTRIBUTES.account, call.account)
    .string(ATTRIBUTES.key, call.key)
    .string(ATTRIBUTES.format, call.dialect);
}

/** Without the model: what the client sent may be any text. */
function refusedSpan(call: CallTrace, span: CallSpan, durationMs: number): Span {
  const { error } = call;
  return {
    ...inTrace(span),
    spanId: span.spanId,
    parentSpanId: span.parentSpanId,
    name: operationOf(call.dialect),
    kind: 'server',
    startMs: call.at,
    endMs: call.at + durationMs,
    error: error && error.status >= 500 ? error.message : undefined,
    attributes: commonAttributes(call)
      .string(ATTRIBUTES.langfuseType, 'span')
      .string(ATTRIBUTES.errorType, error?.code)
      .integer(ATTRIBUTES.status, error?.status)
      .string(ATTRIBUTES.outcome, 'not admitted'),
  };
}

function attemptSpan(call: CallTrace, attempt: AttemptRecord, span: CallSpan): Span {
  const { target, startedAt, answeredAt, endedAt, status, outcome, errorCode, message } = attempt;
  const model = target.model ?? target.id;
  return {
    ...inTrace(span),
    spanId: span.idOf(attempt),
    parentSpanId: span.spanId,
    name: `${operationOf(call.dialect)} ${model}`,
    kind: 'client',
    startMs: startedAt,
    endMs: endedAt || answeredAt || startedAt,
    error: outcome === 'failed' ? (message ?? errorCode ?? outcome) : undefined,
    attributes: new AttributeList()
      .string(ATTRIBUTES.operation, operationOf(call.dialect))
      .string(ATTRIBUTES.provider, providerOf(attempt, target.provider))
      .string(ATTRIBUTES.requestModel, model)
      // The tokens are on the span of the call: counted here too they would count twice.
      .string(ATTRIBUTES.langfuseType, 'span')
      .number(ATTRIBUTES.firstChunk, answeredAt > 0 ? (answeredAt - startedAt) / 1000 : undefined)
      .string(ATTRIBUTES.errorType, errorCode)
      .integer(ATTRIBUTES.status, status > 0 ? status : undefined)
      .string(ATTRIBUTES.outcome, outcome)
      .string(ATTRIBUTES.providerEntry, target.provider)
      .string(ATTRIBUTES.target, target.id),
  };
}

const inTrace = ({ traceId, state, isSampled }: CallSpan) => ({ traceId, state, isSampled });

function providerOf(attempt: AttemptRecord | undefined, entry: string): string {
  const type = attempt?.target.type;
  return providerNameOf(type ?? (entry === '' ? 'unknown' : entry));
}

function withUsage(list: AttributeList, usage: Usage | undefined): AttributeList {
  if (!usage) return list;
  const { input, output, cachedInput, cacheWrite = 0, cacheWriteHour = 0, reasoning } = usage;
  const written = cacheWrite + cacheWriteHour;
  list.integer(ATTRIBUTES.inputTokens, input).integer(ATTRIBUTES.outputTokens, output);
  if (!cachedInput && !written && !reasoning) return list;
  const kinds = {
    input: Math.max(0, input - (cachedInput ?? 0) - written),
    output: Math.max(0, output - (reasoning ?? 0)),
    ...(cachedInput && { input_cached_tokens: cachedInput }),
    ...(written && { input_cache_creation: written }),
    ...(reasoning && { output_reasoning_tokens: reasoning }),
  };
  return list
    .integer(ATTRIBUTES.cachedInput, cachedInput)
    .integer(ATTRIBUTES.cacheWrite, written || undefined)
    .integer(ATTRIBUTES.reasoning, reasoning)
    .string(ATTRIBUTES.langfuseUsage, JSON.stringify(kinds));
}
