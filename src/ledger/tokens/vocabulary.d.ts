/** A vocabulary of gpt-tokenizer, imported as the path of its file: a bundle and the binary then contain it. */
declare module '*.tiktoken' {
  const path: string;
  // biome-ignore lint/style/noDefaultExport: an import of a file has a default export alone
  export default path;
}
