/** A configuration file that a running process was started with. */
export interface ConfigFileRow {
  fingerprint: string;
  name: string;
  /** The host of that process. */
  host: string;
  seenAt: number;
}

export interface ConfigFileStore {
  /** Records the file that a running process was started with. */
  sawConfigFile(file: ConfigFileRow): Promise<void>;
  /** The files recorded since that time. */
  configFiles(since: number): Promise<ConfigFileRow[]>;
}
