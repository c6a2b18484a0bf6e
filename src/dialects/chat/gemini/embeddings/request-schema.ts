/**
 * The request schemas of Google's embeddings. Their reader checks the contents. Descriptions follow the words "must
 * be".
 */
import { type TProperties, Type } from 'typebox';
import { anything, open } from '../../../shared/request-shape.ts';
import { Content } from '../request-schema.ts';

const MEMBERS = {
  model: anything({ $about: 'The model of the path, as `models/<name>`.' }),
  content: Type.Unknown({ description: 'an object with `parts`', $inside: () => Content }),
  taskType: anything({ $about: 'The use of the vectors, such as `RETRIEVAL_QUERY`.' }),
  title: anything({ $about: 'The title of the text, for models that take one.' }),
  outputDimensionality: open(
    Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    'a whole number above zero',
    { $about: 'The number of dimensions.' },
  ),
} satisfies TProperties;

export const EmbedContentRequest = Type.Object(MEMBERS, { $name: 'EmbedContentRequest' });

/** For the API documentation; the reader checks the requests one by one. */
export const batchEmbedBody = () =>
  Type.Object({ requests: Type.Array(EmbedContentRequest) }, { $name: 'BatchEmbedContentsRequest' });
