/** Reads size, length and frame rate from the `moov` box of an MP4 file while the file passes through. */

export interface VideoFacts {
  width?: number;
  height?: number;
  seconds?: number;
  fps?: number;
}

export interface VideoReader {
  /** Takes the next bytes of the file. Only those of the one box are kept. */
  see(piece: Uint8Array): void;
  /** Empty if the file is not an MP4, or its box is too large. */
  facts(): VideoFacts;
}

/** Videos of several hours have boxes of some megabytes. */
const LARGEST_BOX = 8 * 1024 * 1024;
/** Size and name, or size, name and a 64-bit size. */
const HEAD = 8;
const LONG_HEAD = 16;

export function createVideoReader(): VideoReader {
  let head = Buffer.alloc(0);
  /** Bytes of a box still to skip. */
  let skip = 0;
  let wanted = 0;
  let box: Uint8Array[] | undefined;
  let isOver = false;
  let found: VideoFacts = {};

  /** Takes some of these bytes and returns how many. */
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
    // A box of size 0 extends to the end of the file; nothing after it is needed.
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

/** The contents of the boxes with this name. */
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
    // The file contradicts itself.
    return {};
  }
}

/** Both header versions contain a time scale and a duration; version 1 in 64 bits. */
function secondsOf(header: Buffer | undefined): number | undefined {
  if (!header) return undefined;
  const isLong = header[0] === 1;
  const scale = header.readUInt32BE(isLong ? 20 : 12);
  const length = isLong ? Number(header.readBigUInt64BE(24)) : header.readUInt32BE(16);
  return scale > 0 && length > 0 ? length / scale : undefined;
}

/** The last eight bytes, as fixed-point numbers. */
function sidesOf(track: Buffer): VideoFacts {
  const header = boxes(track, 'tkhd')[0];
  if (!header || header.length < 8) return {};
  const width = header.readUInt16BE(header.length - 8);
  const height = header.readUInt16BE(header.length - 4);
  return width > 0 && height > 0 ? { width, height } : {};
}

/** Frames per second: the number of frames divided by the track's duration. */
function rateOf(track: Buffer): VideoFacts {
  const seconds = secondsOf(inside(track, 'mdia', 'mdhd'));
  const table = inside(track, 'mdia', 'minf', 'stbl', 'stts');
  if (!seconds || !table) return {};
  let frames = 0;
  for (let at = 8; at + 8 <= table.length; at += 8) frames += table.readUInt32BE(at);
  const fps = Math.round(frames / seconds);
  return fps > 0 && fps <= 1000 ? { fps } : {};
}
