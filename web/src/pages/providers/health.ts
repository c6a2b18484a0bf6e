/** Whether a target is in cooldown. */
import type { TargetHealth } from '../../api/types.ts';

export const isCooling = ({ phase, coolingCredentials }: TargetHealth): boolean =>
  phase !== 'closed' || coolingCredentials.length > 0;
