/** Bytes on their way through that may stand outside memory. */

export interface Streamed {
  readonly size: number;
  /** All of them, piece by piece; as often as it is asked for. A piece holds until the next is asked for. */
  open(): AsyncIterable<Uint8Array>;
}

/** A file that a client has sent. */
export interface Upload extends Streamed {
  /** What it begins with. */
  readonly head: Uint8Array;
}

/** As much as it takes to tell what a file is. */
export const HEAD_BYTES = 4096;

/** A file that is in memory already. */
export function uploadOf(bytes: Uint8Array): Upload {
  return { ...joined([bytes]), head: bytes.subarray(0, HEAD_BYTES) };
}

/** One after another. */
export function joined(pieces: readonly (Uint8Array | Streamed)[]): Streamed {
  return {
    size: pieces.reduce((sum, piece) => sum + (piece instanceof Uint8Array ? piece.length : piece.size), 0),
    async *open() {
      for (const piece of pieces) {
        if (piece instanceof Uint8Array) yield piece;
        else yield* piece.open();
      }
    },
  };
}

/** All of it in memory, for those who take nothing else. */
export async function gathered(streamed: Streamed): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(streamed.size);
  let at = 0;
  for await (const piece of streamed.open()) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
