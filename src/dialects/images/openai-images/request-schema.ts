/**
 * The request schema of images: flat, nested (`input.messages`), or an edit. Settings are checked in the flat shape;
 * the readers check images and nested messages. Descriptions follow the words "must be".
 */
import { type Static, type TProperties, Type } from 'typebox';
import { anything, boolean, oneOf, text, whole } from '../../shared/request-shape.ts';

const MOST_PARTIALS = 3;
const AN_IMAGE = 'An address, a data URL, base64, or an object with an `image_url`; or several of them in a list.';

const SETTINGS = {
  n: whole(1, undefined, { default: 1 }),
  size: text({ $about: '`<width>x<height>` such as `1024x1024`, an aspect ratio such as `16:9`, or `auto`.' }),
  aspect_ratio: text({ $about: 'Two whole numbers such as `16:9`.' }),
  quality: text(),
  style: text(),
  background: text(),
  output_format: oneOf(['png', 'jpeg', 'webp', 'gif', 'svg', 'jpg']),
  output_compression: whole(0, 100),
  response_format: oneOf(['url', 'b64_json'], { $about: 'An address, which is valid for 24 hours, or base64.' }),
  stream: boolean({ default: false, $about: 'Whether the images are streamed as server-sent events.' }),
  partial_images: whole(0, MOST_PARTIALS, { $about: 'The number of partial images in a stream.' }),
  negative_prompt: text(),
  seed: whole(0),
  user: text(),
} satisfies TProperties;

const MEMBERS = {
  model: Type.String({ minLength: 1, description: 'the name of a model' }),
  prompt: Type.String({ pattern: /\S/, description: 'a text that is not empty' }),
  ...SETTINGS,
  image: anything({ $about: `The input image. ${AN_IMAGE}` }),
  images: anything({ $about: `Several input images. ${AN_IMAGE}` }),
  mask: anything({ $about: 'The mask: the area to change.' }),
} satisfies TProperties;

/** Used for the checks. Members of the nested shape are moved to the top first. */
export const ImagesRequest = Type.Object(
  { ...MEMBERS, input: anything(), parameters: anything() },
  { $name: 'ImagesRequest' },
);

export type ImagesRequest = Static<typeof ImagesRequest>;

const nested = () =>
  Type.Object(
    {
      model: MEMBERS.model,
      input: Type.Object({
        messages: Type.Array(
          Type.Object({
            role: text(),
            content: Type.Union([
              Type.String(),
              Type.Array(Type.Object({ text: text(), image: anything({ $about: AN_IMAGE }) })),
            ]),
          }),
        ),
      }),
      parameters: Type.Optional(Type.Object(SETTINGS)),
    },
    { $name: 'NestedImagesRequest' },
  );

/** The bodies, for the API documentation. */
export const generationsBody = () => Type.Union([Type.Object(MEMBERS, { $name: 'ImageGenerationRequest' }), nested()]);
export const editsBody = () => Type.Object(MEMBERS, { $name: 'ImageEditRequest' });
/** The form fields, for the API documentation. Images are files. */
export const editsForm = () =>
  Type.Object(
    {
      ...MEMBERS,
      image: Type.Union([Type.String({ format: 'binary' }), Type.Array(Type.String({ format: 'binary' }))]),
      mask: Type.Optional(Type.String({ format: 'binary' })),
    },
    { $name: 'ImageEditForm' },
  );
