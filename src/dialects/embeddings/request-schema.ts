/** The request schema of embeddings. Their reader checks the texts. Descriptions follow the words "must be". */
import { Type } from 'typebox';
import { oneOf, text, whole } from '../shared/request-shape.ts';

const tokens = () => Type.Array(Type.Integer({ minimum: 0 }));

export const EmbeddingsRequest = Type.Object(
  {
    model: Type.String({ minLength: 1, description: 'the name of a model' }),
    input: Type.Unknown({
      description: 'a text, texts, token ids, or lists of token ids',
      $inside: () => Type.Union([Type.String(), Type.Array(Type.String()), tokens(), Type.Array(tokens())]),
    }),
    encoding_format: oneOf(['float', 'base64'], { default: 'float' }),
    dimensions: whole(1, undefined, { $about: 'The number of dimensions, for models with a choice.' }),
    user: text(),
  },
  { $name: 'EmbeddingsRequest' },
);
