/** What a member's home shows of a report. Pure. */
import type { UsageGroup, UsageReport } from '../../api/types.ts';
import { chartValue, compareMoney } from '../../format/money.ts';
import type { Bucket } from '../overview/sums.ts';

/** The groups of a report by hour or day, with zeros where nothing was. */
export function fillBuckets(
  groups: readonly UsageGroup[],
  from: number,
  to: number,
  stepMs: number,
): readonly Bucket[] {
  const byTime = new Map(groups.map((group) => [Date.parse(group.hour ?? group.day ?? group.group), group]));
  const buckets: Bucket[] = [];
  for (let at = Math.floor(from / stepMs) * stepMs; at <= to; at += stepMs) {
    const group = byTime.get(at);
    buckets.push({ at, spend: group ? chartValue(group.cost) : 0, calls: group?.calls ?? 0 });
  }
  return buckets;
}

const SHOWN = 6;

/** The groups with the highest spending first. */
export const topGroups = ({ data }: UsageReport): readonly UsageGroup[] =>
  [...data].sort((a, b) => compareMoney(b.cost, a.cost)).slice(0, SHOWN);
