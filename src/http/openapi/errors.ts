/** Error schemas of the three API families. */
import { Type } from 'typebox';

const text = (description: string) => Type.String({ description });

export const ERROR_SCHEMAS = {
  OpenAiError: {
    description: 'An error in the OpenAI format.',
    schema: Type.Object(
      {
        error: Type.Object({
          message: text('what is wrong and what to do'),
          type: text('the kind of error, such as `invalid_request_error`'),
          param: text('the wrong member, or empty'),
          code: text('the code of the error, such as `model_not_found`'),
        }),
      },
      { $name: 'OpenAiError' },
    ),
    example: {
      error: {
        message: 'There is no model "gpt-x". GET /v1/models lists the available models.',
        type: 'invalid_request_error',
        param: 'model',
        code: 'model_not_found',
      },
    },
  },
  AnthropicError: {
    description: 'An error in the Anthropic format.',
    schema: Type.Object(
      {
        type: Type.Literal('error'),
        error: Type.Object({
          type: text('the kind of error, such as `invalid_request_error`'),
          message: text('what is wrong and what to do'),
        }),
        request_id: text('the id of the request'),
      },
      { $name: 'AnthropicError' },
    ),
    example: {
      type: 'error',
      error: { type: 'invalid_request_error', message: '`max_tokens` is required: an integer of at least 1.' },
      request_id: 'req_2b1Jk6Yt0Xa9',
    },
  },
  GoogleError: {
    description: 'An error in the Google format.',
    schema: Type.Object(
      {
        error: Type.Object({
          code: Type.Integer({ description: 'the status' }),
          message: text('what is wrong and what to do'),
          status: text('the kind of error, such as `INVALID_ARGUMENT`'),
          details: Type.Optional(Type.Array(Type.Object({}))),
        }),
      },
      { $name: 'GoogleError' },
    ),
    example: {
      error: {
        code: 400,
        message: '`contents` must be an array of contents, each with `role` and `parts`.',
        status: 'INVALID_ARGUMENT',
        details: [
          { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'INVALID_REQUEST', domain: 'modelport' },
        ],
      },
    },
  },
};
