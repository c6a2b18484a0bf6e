/** How a container of our image starts: the last stage of `deploy/docker/Dockerfile`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const DOCKERFILE = join(import.meta.dirname, '../../deploy/docker/Dockerfile');

export interface ImageConfig {
  /** The bases of all stages, as written. */
  bases: readonly string[];
  user: string;
  volume: string;
  stopSignal: string;
  environment: { [name: string]: string };
  entrypoint: readonly string[];
  command: readonly string[];
  /** The command of the health check; the options before it are not read. */
  health: readonly string[];
}

export function readImageConfig(text = readFileSync(DOCKERFILE, 'utf8')): ImageConfig {
  const lines = text.replace(/\\\n/g, ' ').split('\n');
  const last = lines.findLastIndex((line) => line.startsWith('FROM '));
  const only = (instruction: string): string => {
    const found = lines.slice(last).filter((line) => line.startsWith(`${instruction} `));
    if (found.length !== 1) throw new Error(`the last stage has ${found.length} lines ${instruction}`);
    return (found[0] as string).slice(instruction.length + 1).trim();
  };
  const list = (written: string) => JSON.parse(written) as string[];
  const [volume = ''] = list(only('VOLUME'));
  return {
    bases: lines.filter((line) => line.startsWith('FROM ')).map((line) => line.slice('FROM '.length)),
    user: only('USER'),
    volume,
    stopSignal: only('STOPSIGNAL'),
    environment: Object.fromEntries(
      only('ENV')
        .split(/\s+/)
        .map((one) => one.split('=') as [string, string]),
    ),
    entrypoint: list(only('ENTRYPOINT')),
    command: list(only('CMD')),
    health: list(only('HEALTHCHECK').replace(/^.*?CMD /, '')),
  };
}
