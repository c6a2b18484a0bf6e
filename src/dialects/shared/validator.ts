/**
 * A validator that is compiled at its first use. Compiling those of all formats would take a fifth of the start time.
 */
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';

/** An error of a validator. */
export interface SchemaFault {
  keyword: string;
  /** JSON pointer into the schema. */
  schemaPath: string;
  /** JSON pointer into the value. */
  instancePath: string;
  params: { requiredProperties?: string[]; additionalProperties?: string[] };
  message: string;
}

export function validatorOf<S extends TSchema>(schema: S): () => ReturnType<typeof Compile<S>> {
  let compiled: ReturnType<typeof Compile<S>> | undefined;
  return () => {
    compiled ??= Compile(schema) as ReturnType<typeof Compile<S>>;
    return compiled;
  };
}
