/**
 * `node bin/bun.mjs scripts/sandbox/make-clips.ts`: makes the sandbox's video clips, `src/sandbox/clips.json`, with ffmpeg (on the PATH, or
 * at `FFMPEG`): a bar that crosses a plain image, H.264 in an MP4, one clip for each shape and length. The service itself needs no
 * ffmpeg: it hands out these files.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clip } from '../../src/sandbox/clips.ts';
import { ROOT } from '../source-files.ts';

const FRAMES_A_SECOND = 4;
const SHAPES = [
  { width: 160, height: 96 },
  { width: 96, height: 160 },
  { width: 128, height: 128 },
];
/** Lengths that video models offer, and one that is soon looked at. */
const SECONDS = [2, 4, 8, 12];
const BAR = 24;

function makeClip(path: string, { width, height }: { width: number; height: number }, seconds: number): Uint8Array {
  const plain = `color=c=0x28466e:s=${width}x${height}:r=${FRAMES_A_SECOND}:d=${seconds}`;
  const bar = `color=c=0xdcdcdc:s=${BAR}x${height}:r=${FRAMES_A_SECOND}:d=${seconds}`;
  const graph = `${plain}[image];${bar}[bar];[image][bar]overlay=x='(W-w)*t/${seconds}'`;
  const command = [
    ...[process.env.FFMPEG ?? 'ffmpeg', '-v', 'error', '-y', '-filter_complex', graph, '-t', String(seconds)],
    ...['-c:v', 'libx264', '-profile:v', 'baseline', '-preset', 'veryslow', '-crf', '34', '-pix_fmt', 'yuv420p'],
    // No names of programs in the file, and its index first: the same input makes the same bytes.
    ...['-bsf:v', 'filter_units=remove_types=6', '-fflags', '+bitexact', '-flags:v', '+bitexact'],
    ...['-map_metadata', '-1', '-movflags', '+faststart', path],
  ];
  const { exitCode, stderr } = Bun.spawnSync(command, { stdin: 'ignore' });
  if (exitCode !== 0) throw new Error(`ffmpeg failed: ${stderr}`);
  return readFileSync(path);
}

if (import.meta.main) {
  const folder = mkdtempSync(join(tmpdir(), 'clips-'));
  try {
    const clips = SHAPES.flatMap((shape) =>
      SECONDS.map((seconds): Clip => {
        const bytes = makeClip(join(folder, 'clip.mp4'), shape, seconds);
        return { ...shape, seconds, base64: Buffer.from(bytes).toString('base64') };
      }),
    );
    const rows = clips.map((clip) => `  ${JSON.stringify(clip)}`).join(',\n');
    writeFileSync(join(ROOT, 'src/sandbox/clips.json'), `[\n${rows}\n]\n`);
    console.log(
      clips.map(({ width, height, seconds, base64 }) => `${width}x${height} ${seconds} s: ${base64.length}`).join('\n'),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}
