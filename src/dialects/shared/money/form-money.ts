/** What money hangs on in the fields of a form that hands over an audio file: which audio it is, and the words that all bodies have for it. */
import { isObject, type JsonObject } from '../../../canonical/json.ts';
import { folded, type MoneySpelling, respelled } from './money-members.ts';

type Fields = readonly (readonly [name: string, value: string])[];

const MONEY: MoneySpelling = { model: ['model'], tier: ['service_tier'], content: new Set(['prompt']) };

/** Another audio than the one handed over, whose length nobody here knows. */
const SOURCES: ReadonlySet<string> = new Set([
  ...['url', 'uri', 'fileurl', 'fileuri', 'fileid', 'file', 'audiourl', 'audiouri', 'audiofile', 'audio'],
  ...['inputaudio', 'sourceurl', 'cloudstorageurl', 'mediaurl', 'signedurl'],
]);

/** The fields that may be told, and a sentence for each that is left out. */
export function billableFields(fields: Fields): { fields: Fields; dropped?: string[] } {
  const dropped: string[] = [];
  const kept = fields.flatMap(([name, value]) => {
    const plain = plainName(name);
    if (SOURCES.has(folded(plain))) {
      dropped.push(`\`${name}\` was dropped: \`file\` is the audio to write down.`);
      return [];
    }
    // Each by itself: which of several fields of one name a server reads is not known.
    const changes = respelled({ [plain]: objectIn(value) ?? value }, MONEY);
    if (!changes) return [[name, value] as const];
    dropped.push(...changes.warnings);
    const left = changes.members[plain];
    return left === undefined ? [] : [[name, JSON.stringify(left)] as const];
  });
  return { fields: kept, ...(dropped.length > 0 && { dropped }) };
}

/** `models[]`, `options[0]`: some servers read lists so. */
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
