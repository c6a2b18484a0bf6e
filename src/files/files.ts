/** Where finished works are kept: a folder, or an S3-compatible bucket; both alike to who writes and reads. */

/** A stretch of bytes, `end` exclusive. */
export interface ByteRange {
  start: number;
  end: number;
}

export interface Files {
  /**
   * Writes what comes, piece by piece; nothing is there before all of it is. Returns the number of bytes. Throws `upstream_failed`
   * where there are more than `maxBytes`, and what the source throws.
   */
  write(name: string, pieces: AsyncIterable<Uint8Array>, maxBytes: number): Promise<number>;
  /** `undefined` where there is no such file. Throws `upstream_unavailable` where nobody can tell. */
  size(name: string): Promise<number | undefined>;
  /** The bytes of a file that is there. */
  read(name: string, range: ByteRange): ReadableStream<Uint8Array>;
  /** Whole or half written. Nothing happens where there is none. */
  remove(name: string): Promise<void>;
  /** The names that begin so, whole or half written, in the order of the alphabet. */
  names(prefix: string): AsyncIterable<string>;
}

export interface BucketPlace {
  bucket: string;
  endpoint?: string;
  region?: string;
  accessKeyId: string;
  secretAccessKey: string;
}
