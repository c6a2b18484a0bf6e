/** Storage of results: a folder or an S3-compatible bucket, with the same interface. */

/** A range of bytes; `end` is exclusive. */
export interface ByteRange {
  start: number;
  end: number;
}

/** A name may have one `/`: in a folder, such files are in the subfolder before it. */
export interface Files {
  /**
   * Writes a file from pieces. It is visible only when complete. Returns the number of bytes. Throws `upstream_failed` above `maxBytes`,
   * and errors of the source.
   */
  write(name: string, pieces: AsyncIterable<Uint8Array>, maxBytes: number): Promise<number>;
  /** `undefined` if the file does not exist. Throws `upstream_unavailable` if the storage cannot be reached. */
  size(name: string): Promise<number | undefined>;
  /** The bytes of an existing file. */
  read(name: string, range: ByteRange): ReadableStream<Uint8Array>;
  /** Removes a complete or incomplete file. Does nothing if it does not exist. */
  remove(name: string): Promise<void>;
  /** Names with this prefix, of complete and incomplete files, in alphabetical order. */
  names(prefix: string): AsyncIterable<string>;
}

export interface BucketPlace {
  bucket: string;
  endpoint?: string;
  region?: string;
  accessKeyId: string;
  secretAccessKey: string;
}
