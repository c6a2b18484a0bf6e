/** Models that several cases of a test use one after the other, each with its own account. */
import type { Stage } from './scene.ts';

export interface StagePool {
  take(): Promise<Stage>;
  /** After its one call was settled: the model is used again if the call succeeded, a failure may have led to a cooldown. */
  giveBack(stage: Stage, call: { outcome: string }): void;
}

/** `open`: makes a new model. */
export function stagePool(open: () => Promise<Stage>): StagePool {
  const free: Stage[] = [];
  return {
    take: async () => (await free.pop()?.again()) ?? open(),
    giveBack(stage, { outcome }) {
      if (outcome === 'ok') free.push(stage);
    },
  };
}
