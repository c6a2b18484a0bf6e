/** No silent loss: every member of every format's reply reaches a client of any other format, or is named in a warning. */
import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '../../src/canonical/json.ts';
import type { Dialect } from '../../src/dialects/dialect.ts';
import { dialectNamed } from '../../src/dialects/index.ts';
import { testDeclaredMembers } from '../conformance/members/declared.ts';
import { type Group, isReportable } from '../conformance/members/group.ts';
import { REPLY_GROUPS } from '../conformance/members/replies.ts';
import { TARGETS } from '../conformance/translate-replies.ts';
import { chatCall } from '../helpers/chat-call.ts';

testDeclaredMembers(REPLY_GROUPS);

describe('a member arrives or is reported', () => {
  for (const group of REPLY_GROUPS) {
    const reportable = Object.entries(group.members).filter(([, specimen]) => isReportable(specimen));
    for (const target of TARGETS.filter(({ name }) => name !== group.dialect)) {
      test.each(reportable)(
        `${group.dialect} ${group.declared ?? ''} for a client of ${target.name}: %s`,
        (member, specimen) => {
          const without = written(group, {}, target);
          const withIt = written(group, { [member.trim()]: specimen as JsonObject }, target);
          // A call that cannot be expressed was reported as a whole.
          if (without.warnings.some((warning) => warning.includes('tool-call was dropped'))) return;
          const arrived = settled(withIt.body) !== settled(without.body);
          const reported = withIt.warnings.some((warning) => !without.warnings.includes(warning));
          expect({ arrived, reported, isReported: arrived || reported }).toMatchObject({ isReported: true });
        },
      );
    }
  }
});

/** Made-up ids differ each time. */
function settled(body: string): string {
  return body.replace(/\b(chatcmpl-|resp_|msg_|rs_|fc_|ctc_|ig_|call_)[0-9A-Za-z]{24}\b/g, '$1');
}

function written(group: Group, members: JsonObject, target: Dialect): { body: string; warnings: readonly string[] } {
  const call = chatCall({ stream: false });
  const reader = dialectNamed(group.dialect)?.reader(call, 'application/json', {});
  if (!reader) throw new Error('There is no such dialect.');
  const writer = target.writer(call);
  const frames = [...reader.read(Buffer.from(JSON.stringify(group.body(members)))), ...reader.end()];
  for (const frame of frames) {
    expect(frame.events.find((event) => event.type === 'error')).toBeUndefined();
    writer.write(frame);
  }
  return { body: Buffer.from(writer.end()).toString(), warnings: writer.warnings };
}
