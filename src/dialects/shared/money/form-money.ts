/**
 * Checks the billing-relevant fields of a multipart form with an audio file: fields that name another audio source, and
 * the members that all formats share.
 */
import { isObject, type JsonObject } from '../../../canonical/json.ts';
import { folded, type MoneySpelling, respelled } from './money-members.ts';

type Fields = readonly (readonly [name: string, value: string])[];

const MONEY: MoneySpelling = { model: ['model'], tier: ['service_tier'], content: new Set(['prompt']) };

/** Names of fields that point to another audio file, whose length the gateway does not know. */
const SOURCES: ReadonlySet<string> = new Set([
  ...['url', 'uri', 'fileurl', 'fileuri', 'fileid', 'file', 'audiourl', 'audiouri', 'audiofile', 'audio'],
  ...['inputaudio', 'sourceurl', 'cloudstorageurl', 'mediaurl', 'signedurl'],
]);

/** The fields that may be sent to the provider, and a sentence for each dropped one. */
export function billableFields(fields: Fields): { fields: Fields; dropped?: string[] } {
  const dropped: string[] = [];
  const kept = fields.flatMap(([name, value]) => {
    const plain = plainName(name);
    if (SOURCES.has(folded(plain))) {
      dropped.push(`\`${name}\` was dropped: \`file\` is the audio to write down.`);
      return [];
    }
    // Each field is checked alone: if a name occurs twice, servers differ in which one they read.
    const changes = respelled({ [plain]: objectIn(value) ?? value }, MONEY);
    if (!changes) return [[name, value] as const];
    dropped.push(...changes.warnings);
    const left = changes.members[plain];
    return left === undefined ? [] : [[name, JSON.stringify(left)] as const];
  });
  return { fields: kept, ...(dropped.length > 0 && { dropped }) };
}

/** Some servers read the field names `models[]` and `options[0]` as lists. */
function plainName(name: string): string {
  return name.replace(/\[[^\]]*\]$/, '').trim();
}

function objectIn(text: string): JsonObject | undefined {
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
