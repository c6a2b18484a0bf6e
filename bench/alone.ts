/** Measurements of one gateway while nothing is asked of the others: first tokens, and memory with many streams. */
import type { Load, LoadReport } from './load.ts';
import { heldStreams, shortStreams } from './loads.ts';
import { treeUse } from './processes.ts';
import { load, type Target, untilAnswers } from './running.ts';

export interface Alone {
  streamed: LoadReport;
  held: LoadReport;
  /** The highest while the streams are open, of all processes and of the largest. */
  memoryStreamsMb: number;
  largestProcessMb: number;
  memoryAfterMb: number;
}

const HELD_STREAMS = 500;
const HELD_EVERY_MS = 50;
const MANY_STREAMS = 5000;
const MANY_EVERY_MS = 500;
/** Long enough that all streams are open at the same time. */
const MANY_SECONDS = 20;
const SETTLE_MS = 2000;
const GRACE_SECONDS = 30;

/** By a load generator that ends after it, so that no connection stays open and takes memory. */
const send = (request: Load, seconds: number) => load(request, seconds + GRACE_SECONDS);

export async function measureAlone(target: Target, seconds: number): Promise<Alone> {
  await untilAnswers(target);
  const streamed = await send(shortStreams(target, seconds), seconds);
  await untilAnswers(target);
  const memory = sampleMemory(target);
  const held = await send(heldStreams(target, HELD_STREAMS, HELD_EVERY_MS, seconds), seconds * 3);
  const { residentMb, largestMb } = memory.stop();
  await Bun.sleep(SETTLE_MS);
  return {
    streamed,
    held,
    memoryStreamsMb: residentMb,
    largestProcessMb: largestMb,
    memoryAfterMb: treeUse(target.pid).residentMb,
  };
}

/** NaN if streams failed, for instance where a process may not open so many files. */
export async function memoryOfManyStreams(target: Target): Promise<number> {
  const memory = sampleMemory(target);
  const { failures } = await send(heldStreams(target, MANY_STREAMS, MANY_EVERY_MS, MANY_SECONDS), MANY_SECONDS * 3);
  const { residentMb } = memory.stop();
  return failures === 0 ? residentMb : Number.NaN;
}

const SAMPLE_MS = 250;

/** Samples the highest memory until `stop`. */
function sampleMemory(target: Target) {
  const highest = { residentMb: 0, largestMb: 0 };
  const look = () => {
    const { residentMb, largestMb } = treeUse(target.pid);
    highest.residentMb = Math.max(highest.residentMb, residentMb);
    highest.largestMb = Math.max(highest.largestMb, largestMb);
  };
  const timer = setInterval(look, SAMPLE_MS);
  return {
    stop() {
      clearInterval(timer);
      return highest;
    },
  };
}
