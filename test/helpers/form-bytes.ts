/** Forms as clients write them, with parts in any order. */
import type { FormPart } from '../../src/dialects/wire/multipart.ts';

export function formBytes(parts: readonly FormPart[], boundary: string): Buffer<ArrayBuffer> {
  const written = parts.flatMap(({ name, filename, contentType, bytes }) => {
    const file = filename === undefined ? '' : `; filename="${filename}"`;
    const type = contentType === undefined ? '' : `content-type: ${contentType}\r\n`;
    const head = `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${file}\r\n${type}\r\n`;
    return [Buffer.from(head), bytes, Buffer.from('\r\n')];
  });
  return Buffer.concat([...written, Buffer.from(`--${boundary}--\r\n`)]);
}
