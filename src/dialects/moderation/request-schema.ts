/** The request schema of moderations. Their reader checks the inputs. Descriptions follow the words "must be". */
import { Type } from 'typebox';

export const ModerationsRequest = Type.Object(
  {
    model: Type.Optional(
      Type.String({ minLength: 1, description: 'the name of a model', default: 'omni-moderation-latest' }),
    ),
    input: Type.Unknown({
      description: 'a text, texts, or objects with a text or an image',
      $inside: () => Type.Union([Type.String(), Type.Array(Type.Union([Type.String(), Type.Object({})]))]),
    }),
  },
  { $name: 'ModerationsRequest' },
);
