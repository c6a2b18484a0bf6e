/** What a video file says of itself: its size, its length and its frames a second, read from an MP4's `moov` box as the file goes by. */

export interface VideoFacts {
  width?: number;
  height?: number;
  seconds?: number;
  fps?: number;
}

export interface VideoReader {
  /** The next bytes of the file; they are not kept, but for those of the one box. */
  see(piece: Uint8Array): void;
  /** Empty where the file is no MP4, or its box is too large. */
  facts(): VideoFacts;
}

/** Videos of hours have boxes of some megabytes. */
const LARGEST_BOX = 8 * 1024 * 1024;
/** Size and name, or size, name and a size of 64 bits. */
const HEAD = 8;
const LONG_HEAD = 16;

export function createVideoReader(): VideoReader {
  let head = Buffer.alloc(0);
  /** Bytes of a box that are passed over. */
  let skip = 0;
  let wanted = 0;
  let box: Uint8Array[] | undefined;
  let isOver = false;
  let found: VideoFacts = {};

  /** Takes what it can of these bytes, and says how many. */
  function take(bytes: Buffer): number {
    if (skip > 0) {
      const passed = Math.min(skip, bytes.length);
      skip -= passed;
      return passed;
    }
    if (box) {
      const part = bytes.subarray(0, wanted);
      box.push(Buffer.from(part));
      wanted -= part.length;
      if (wanted === 0) {
        isOver = true;
        found = factsOf(Buffer.concat(box));
        box = undefined;
      }
      return part.length;
    }
    return open(bytes);
  }

  function open(bytes: Buffer): number {
    const missing = headLength(head) - head.length;
    const part = bytes.subarray(0, missing);
    head = Buffer.concat([head, part]);
    if (head.length < headLength(head)) return part.length;
    const { size, name } = boxAt(head, 0);
    const content = size - head.length;
    // A box of size 0 reaches to the end of the file; nothing is wanted behind it.
    if (content < 0 || (name === 'moov' && content > LARGEST_BOX)) isOver = true;
    else if (name === 'moov') {
      box = [];
      wanted = content;
      if (wanted === 0) isOver = true;
    } else skip = content;
    head = Buffer.alloc(0);
    return part.length;
  }

  return {
    see(piece) {
      let bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
      while (!isOver && bytes.length > 0) bytes = bytes.subarray(take(bytes));
    },
    facts: () => found,
  };
}

function headLength(head: Buffer): number {
  return head.length >= HEAD && head.readUInt32BE(0) === 1 ? LONG_HEAD : HEAD;
}

interface Box {
  name: string;
  size: number;
  head: number;
}

function boxAt(bytes: Buffer, at: number): Box {
  const short = bytes.readUInt32BE(at);
  const name = bytes.toString('latin1', at + 4, at + 8);
  if (short !== 1) return { name, size: short, head: HEAD };
  return { name, size: Number(bytes.readBigUInt64BE(at + 8)), head: LONG_HEAD };
}

/** The contents of the boxes of this name. */
function boxes(bytes: Buffer, wanted: string): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0; at + LONG_HEAD <= bytes.length; ) {
    const { name, size, head } = boxAt(bytes, at);
    if (size < head || at + size > bytes.length) break;
    if (name === wanted) found.push(bytes.subarray(at + head, at + size));
    at += size;
  }
  return found;
}

/** The first box at the end of this path. */
function inside(bytes: Buffer, ...path: string[]): Buffer | undefined {
  let at: Buffer | undefined = bytes;
  for (const name of path) at = at && boxes(at, name)[0];
  return at;
}

function factsOf(moov: Buffer): VideoFacts {
  try {
    const track = boxes(moov, 'trak').find((one) => inside(one, 'mdia', 'hdlr')?.toString('latin1', 8, 12) === 'vide');
    const seconds = secondsOf(inside(moov, 'mvhd'));
    return { ...(track && sidesOf(track)), ...(seconds && { seconds }), ...(track && rateOf(track)) };
  } catch {
    // A file that contradicts itself says nothing.
    return {};
  }
}

/** Both versions of a header hold a time scale and a length, the later one in 64 bits. */
function secondsOf(header: Buffer | undefined): number | undefined {
  if (!header) return undefined;
  const isLong = header[0] === 1;
  const scale = header.readUInt32BE(isLong ? 20 : 12);
  const length = isLong ? Number(header.readBigUInt64BE(24)) : header.readUInt32BE(16);
  return scale > 0 && length > 0 ? length / scale : undefined;
}

/** The last eight bytes, in fixed point. */
function sidesOf(track: Buffer): VideoFacts {
  const header = boxes(track, 'tkhd')[0];
  if (!header || header.length < 8) return {};
  const width = header.readUInt16BE(header.length - 8);
  const height = header.readUInt16BE(header.length - 4);
  return width > 0 && height > 0 ? { width, height } : {};
}

/** Frames a second: how many there are in the track's own length. */
function rateOf(track: Buffer): VideoFacts {
  const seconds = secondsOf(inside(track, 'mdia', 'mdhd'));
  const table = inside(track, 'mdia', 'minf', 'stbl', 'stts');
  if (!seconds || !table) return {};
  let frames = 0;
  for (let at = 8; at + 8 <= table.length; at += 8) frames += table.readUInt32BE(at);
  const fps = Math.round(frames / seconds);
  return fps > 0 && fps <= 1000 ? { fps } : {};
}
