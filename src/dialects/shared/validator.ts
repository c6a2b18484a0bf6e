/** A schema's validator, compiled when the first body comes: compiling those of every format would take a fifth of the start. */
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';

export function validatorOf<S extends TSchema>(schema: S): () => ReturnType<typeof Compile<S>> {
  let compiled: ReturnType<typeof Compile<S>> | undefined;
  return () => {
    compiled ??= Compile(schema) as ReturnType<typeof Compile<S>>;
    return compiled;
  };
}
