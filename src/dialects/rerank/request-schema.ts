/** The request schema of rerank. Descriptions follow the words "must be". */
import { Type } from 'typebox';
import { open, whole } from '../shared/request-shape.ts';

/** The highest limit of all providers. */
const MOST_DOCUMENTS = 10_000;

export const RerankRequest = Type.Object(
  {
    model: Type.String({ minLength: 1, description: 'the name of a model' }),
    query: Type.String({ minLength: 1, description: 'a text that is not empty' }),
    documents: Type.Array(
      Type.Union([Type.String(), Type.Object({ text: Type.String() })], {
        description: 'a text, or an object with a `text`',
      }),
      { minItems: 1, maxItems: MOST_DOCUMENTS, description: `a list of 1 to ${MOST_DOCUMENTS} documents` },
    ),
    top_n: whole(1, undefined, { $about: 'The maximum of returned documents. Absent: all.' }),
    return_documents: open(Type.Boolean(), 'true or false', { default: false }),
    max_tokens_per_doc: whole(1, undefined, { $about: 'The maximum of tokens that are read of each document.' }),
  },
  { $name: 'RerankRequest' },
);
