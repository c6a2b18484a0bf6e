/** Bytes that may be on disk instead of in memory. */

export interface Streamed {
  readonly size: number;
  /** All bytes in pieces. Can be called repeatedly. A piece is valid until the next one is requested. */
  open(): AsyncIterable<Uint8Array>;
}

/** A file sent by a client. */
export interface Upload extends Streamed {
  /** The first bytes. */
  readonly head: Uint8Array;
}

/** Enough to recognise the type of a file. */
export const HEAD_BYTES = 4096;

/** A file that is already in memory. */
export function uploadOf(bytes: Uint8Array): Upload {
  return { ...joinedUpload([bytes]), head: bytes.subarray(0, HEAD_BYTES) };
}

/** Concatenates pieces. */
export function joinedUpload(pieces: readonly (Uint8Array | Streamed)[]): Streamed {
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

/** Reads everything into memory, for targets that need it. */
export async function gathered(streamed: Streamed): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(streamed.size);
  let at = 0;
  for await (const piece of streamed.open()) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
