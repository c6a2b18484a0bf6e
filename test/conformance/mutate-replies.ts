/**
 * Recorded replies, mutated as a faulty provider might send them, through every client's format. `mutations.test.ts` runs it in a separate
 * process to watch its memory: `bun test/conformance/mutate-replies.ts SEED MUTATIONS_PER_RECORDING`. Prints one line of JSON.
 */
import { GatewayError } from '../../src/canonical/errors.ts';
import { bedrockConverse } from '../../src/dialects/chat/bedrock-converse/bedrock-converse.ts';
import { boundedReader } from '../../src/dialects/shared/bounded-reader.ts';
import { chatCall } from '../helpers/chat-call.ts';
import { recordedCases, replyBytes, replyContentType } from '../helpers/fixtures.ts';
import { randomFrom } from '../helpers/random-numbers.ts';
import { mutateBody } from './mutate.ts';
import { CONVERSING, TARGETS, WIRES } from './translate-replies.ts';

/** The maximum size of an answer to a mutated recording: unlimited growth is detected long before. */
const MOST_OUTPUT_BYTES = 64 * 1024 * 1024;
const MOST_MS = 2000;

if (import.meta.main) {
  const [seed = 1, mutations = 1] = process.argv.slice(2).map(Number);
  const random = randomFrom(seed);
  const faults: string[] = [];
  let cases = 0;
  let errors = 0;
  let peak = 0;
  for (const dialect of [...CONVERSING, bedrockConverse]) {
    for (const recorded of recordedCases(WIRES[dialect.name] ?? dialect.name)) {
      if (recorded.status !== 200) continue;
      const body = Buffer.from(replyBytes(recorded)).toString();
      for (let round = 0; round < mutations; round++) {
        const mutated = Buffer.from(mutateBody(body, random));
        for (const target of TARGETS) {
          cases++;
          const call = chatCall({ stream: recorded.stream });
          const started = performance.now();
          try {
            const reader = boundedReader(dialect.reader(call, replyContentType(recorded), {}), call, {
              skippedEvents: 0,
            });
            const writer = target.writer(call);
            let length = 0;
            for (const frame of [...reader.read(mutated), ...reader.end()]) {
              const failure = frame.events.find((event) => event.type === 'error');
              if (failure) {
                errors++;
                if (failure.error.code === 'internal_error') throw failure.error.cause;
                length += writer.fail(failure.error).length;
                break;
              }
              length += (target.name === dialect.name ? writer.pass(frame) : writer.write(frame)).length;
            }
            length += writer.end().length;
            if (length > MOST_OUTPUT_BYTES) faults.push(`${recorded.file} as ${target.name}: ${length} bytes`);
          } catch (thrown) {
            // A reply that the writer refuses is acceptable; any other error is a fault of the gateway.
            const stack =
              thrown instanceof Error ? (thrown.stack ?? thrown.message).split('\n').slice(0, 4).join(' | ') : thrown;
            if (!(thrown instanceof GatewayError))
              faults.push(`${recorded.file} as ${target.name}, round ${round}: ${stack}`);
          }
          const ms = performance.now() - started;
          if (ms > MOST_MS)
            faults.push(`${recorded.file} as ${target.name}, round ${round}: took ${Math.round(ms)} ms`);
        }
        peak = Math.max(peak, process.memoryUsage.rss());
      }
    }
  }
  console.log(
    JSON.stringify({
      seed,
      cases,
      errors,
      peakMegabytes: Math.round(peak / 2 ** 20),
      faults: faults.slice(0, 200),
      faulty: faults.length,
    }),
  );
}
