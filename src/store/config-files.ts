/** A file of providers and models that a living process was started with. */
export interface ConfigFileRow {
  fingerprint: string;
  name: string;
  /** The machine that process runs on. */
  host: string;
  seenAt: number;
}

export interface ConfigFileStore {
  /** A living process shows which file it was started with. */
  sawConfigFile(file: ConfigFileRow): Promise<void>;
  /** Those that were seen since. */
  configFiles(since: number): Promise<ConfigFileRow[]>;
}
