/** Writes H.264 (ITU-T H.264, baseline profile) with uncompressed frames, which every player can read. */

/** A frame: rows of luma, and both chroma planes at half size. */
export interface Image {
  luma: Uint8Array;
  blue: Uint8Array;
  red: Uint8Array;
}

/** Width and height are multiples of this. */
export const BLOCK = 16;
const HALF = BLOCK / 2;

const BASELINE = 66;
const LEVEL_3 = 30;
const NAL_IMAGE = 0x65;
const NAL_SEQUENCE = 0x67;
const NAL_PARAMETERS = 0x68;
/** The macroblock type with uncompressed samples. */
const I_PCM = 25;
const ALL_INTRA = 7;

class BitWriter {
  private readonly bytes: number[] = [];
  private current = 0;
  private filled = 0;

  bits(value: number, count: number): this {
    for (let bit = count - 1; bit >= 0; bit--) {
      this.current = (this.current << 1) | ((value >> bit) & 1);
      if (++this.filled === 8) this.flush();
    }
    return this;
  }

  /** Unsigned Exp-Golomb code (clause 9.1). */
  golomb(...values: number[]): this {
    for (const value of values) {
      const length = Math.floor(Math.log2(value + 1));
      this.bits(0, length).bits(value + 1, length + 1);
    }
    return this;
  }

  /** Zero bits up to the next byte, then bytes. */
  aligned(bytes: Uint8Array): this {
    while (this.filled > 0) this.bits(0, 1);
    for (const byte of bytes) this.bytes.push(byte);
    return this;
  }

  /** A one and zeros to the end of the byte. */
  done(): number[] {
    this.bits(1, 1);
    while (this.filled > 0) this.bits(0, 1);
    return this.bytes;
  }

  private flush(): void {
    this.bytes.push(this.current);
    this.current = 0;
    this.filled = 0;
  }
}

/** The sequence parameter set. */
export function sequenceUnit(width: number, height: number): Uint8Array {
  const writer = new BitWriter().bits(BASELINE, 8).bits(0xc0, 8).bits(LEVEL_3, 8);
  // Output order equals decoding order, no reference frames.
  writer.golomb(0, 0, 2, 0).bits(0, 1);
  writer.golomb(width / BLOCK - 1, height / BLOCK - 1).bits(0b1100, 4);
  return unit(NAL_SEQUENCE, writer.done());
}

export function parameterUnit(): Uint8Array {
  const writer = new BitWriter().golomb(0, 0).bits(0, 2).golomb(0, 0, 0).bits(0, 3);
  // No quantisation and no deblocking filter, because samples are exact.
  return unit(NAL_PARAMETERS, writer.golomb(0, 0, 0).bits(0b100, 3).done());
}

/** `number` distinguishes a frame from the previous one. */
export function imageUnit(image: Image, width: number, height: number, number: number): Uint8Array {
  const writer = new BitWriter()
    .golomb(0, ALL_INTRA, 0)
    .bits(0, 4)
    .golomb(number % 2)
    .bits(0, 2)
    .golomb(0, 1);
  for (let y = 0; y < height / BLOCK; y++) {
    for (let x = 0; x < width / BLOCK; x++) {
      writer.golomb(I_PCM);
      writer.aligned(block(image.luma, width, x, y, BLOCK));
      writer.aligned(block(image.blue, width / 2, x, y, HALF));
      writer.aligned(block(image.red, width / 2, x, y, HALF));
    }
  }
  return unit(NAL_IMAGE, writer.done());
}

function block(plane: Uint8Array, stride: number, x: number, y: number, side: number): Uint8Array {
  const samples = new Uint8Array(side * side);
  for (let row = 0; row < side; row++) {
    const start = (y * side + row) * stride + x * side;
    samples.set(plane.subarray(start, start + side), row * side);
  }
  return samples;
}

/** An emulation prevention byte separates sequences that look like a start code (clause 7.4.1). */
function unit(type: number, payload: readonly number[]): Uint8Array {
  const bytes = [type];
  let zeros = 0;
  for (const byte of payload) {
    if (zeros >= 2 && byte <= 3) {
      bytes.push(3);
      zeros = 0;
    }
    bytes.push(byte);
    zeros = byte === 0 ? zeros + 1 : 0;
  }
  return Uint8Array.from(bytes);
}
